//! Connections and declarations: lists of elements with arrows between them.

use clickwork_source::Diagnostic;

use super::{Inside, Parser, STATEMENT_ENDS};
use crate::syntax::SyntaxKind;

impl Parser<'_> {
    /// Lists of elements with arrows between them.
    pub(super) fn connection(&mut self, inside: Inside) {
        self.open(SyntaxKind::Connection);
        let mut first = true;
        while self.element_list(inside, first) && self.arrow() {
            first = false;
        }
        self.eat(SyntaxKind::Semicolon);
        self.close();
    }

    /// Reads an arrow, if there is one; what can only be a slip is skipped.
    fn arrow(&mut self) -> bool {
        use SyntaxKind::*;
        while self.at_any(&[Comma, ColonColon]) {
            self.unexpected();
        }
        match self.kind() {
            Arrow | DoubleArrow => {
                self.bump();
                return true;
            }
            LeftParen | Variable | Dots | Bar | Minus | RightBracket | Unknown => self.unexpected(),
            _ => {}
        }
        false
    }

    /// `a, b :: C [1], { ... }`. False if there was no element, which ends the connection.
    fn element_list(&mut self, inside: Inside, first: bool) -> bool {
        self.open(SyntaxKind::ElementList);
        let found = self.element(inside, first, true);
        if found {
            while self.at(SyntaxKind::Comma) {
                self.bump();
                if !self.element(inside, first, false) {
                    break;
                }
            }
        }
        self.close();
        found
    }

    /// One element; false if there is none.
    fn element(&mut self, inside: Inside, first_list: bool, first_element: bool) -> bool {
        let start = self.checkpoint();
        let (ports, errors) = (self.span(), self.diagnostics.len());
        let has_ports = self.at(SyntaxKind::LeftBracket);
        if has_ports {
            self.ports(SyntaxKind::InputPorts);
        }
        match self.kind() {
            SyntaxKind::Ident => self.bump(),
            SyntaxKind::LeftBrace => self.compound(),
            SyntaxKind::LeftParen => self.group(),
            _ if self.implicit(inside, first_list, first_element, has_ports) => {
                self.open_at(start, SyntaxKind::Element);
                self.close();
                return true;
            }
            _ if has_ports => {
                // One complaint about the ports is enough.
                if self.diagnostics.len() == errors {
                    let error = Diagnostic::error(ports, "stranded port ignored");
                    self.error(error.hint("an element must follow the port"));
                }
                if !self.at_any(&STATEMENT_ENDS) {
                    self.skip_one();
                }
                return false;
            }
            _ => {
                self.no_element(inside, first_list, first_element);
                return false;
            }
        }
        self.open_at(start, SyntaxKind::Element);
        self.rest_of_element();
        self.close();
        true
    }

    /// Whether a missing name means `input` or `output`, as in `( [0] -> Null -> [0] )`.
    fn implicit(&self, inside: Inside, first_list: bool, first_element: bool, has_ports: bool) -> bool {
        let allowed = inside != Inside::File;
        allowed
            && match self.kind() {
                SyntaxKind::Arrow | SyntaxKind::DoubleArrow => first_list && (has_ports || first_element),
                SyntaxKind::Comma => has_ports,
                SyntaxKind::ColonColon => false,
                _ => !first_list && (has_ports || first_element),
            }
    }

    /// There should be an element, but there is none.
    fn no_element(&mut self, inside: Inside, first_list: bool, first_element: bool) {
        let after_comma = !first_element;
        if after_comma && self.at_any(&STATEMENT_ENDS) {
            return; // Click allows a comma too many
        }
        if inside != Inside::File && first_list && first_element {
            return; // the next statement will complain
        }
        if self.at_any(&STATEMENT_ENDS) {
            self.complain(Some("an element must follow the arrow"));
        } else {
            self.unexpected();
        }
    }

    /// What can follow the name: `:: Class (config) [port]`.
    fn rest_of_element(&mut self) {
        if self.eat(SyntaxKind::ColonColon) {
            match self.kind() {
                SyntaxKind::Ident => self.bump(),
                SyntaxKind::LeftBrace => self.compound(),
                _ => {
                    let hint = "write the name of an element class or '{ ... }' after '::'";
                    self.error(
                        Diagnostic::error(self.span(), "missing element type in declaration").hint(hint),
                    );
                }
            }
        }
        if self.at(SyntaxKind::LeftParen) {
            self.config();
        }
        if self.at(SyntaxKind::LeftBracket) {
            self.ports(SyntaxKind::OutputPorts);
        }
    }

    /// `[0, 2-4]` or `[1, ]`.
    fn ports(&mut self, node: SyntaxKind) {
        use SyntaxKind::*;
        self.open(node);
        self.bump();
        loop {
            if self.at(RightBracket) {
                break;
            }
            if !self.eat(Ident) {
                self.error(Diagnostic::error(self.span(), "syntax error: expected port number"));
                break;
            }
            if self.eat(Minus) && !self.eat(Ident) {
                self.error(Diagnostic::error(self.span(), "syntax error: expected port number"));
                break;
            }
            if !self.eat(Comma) {
                if !self.at(RightBracket) {
                    self.error(Diagnostic::error(self.span(), "syntax error: expected ','"));
                }
                break;
            }
        }
        self.end_of_ports();
        self.close();
    }

    /// Goes to the closing bracket if it is near; otherwise carries on as if it had been there.
    fn end_of_ports(&mut self) {
        use SyntaxKind::*;
        if self.at_any(&[Variable, Minus, Unknown, Comma, Ident]) && !self.at(RightBracket) {
            self.open(Error);
            while self.at_any(&[Variable, Minus, Unknown, Comma, Ident]) {
                self.bump();
            }
            self.close();
        }
        self.eat(RightBracket);
    }
}
