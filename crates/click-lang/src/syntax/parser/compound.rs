//! Compound elements, `{ ... || ... }`, and groups, `( ... )`.

use clickwork_source::{Diagnostic, Span};

use super::{Inside, MAX_DEPTH, Parser};
use crate::syntax::SyntaxKind;

impl Parser<'_> {
    pub(super) fn group(&mut self) {
        let opened = self.span();
        if self.too_deep("element group") {
            return;
        }
        self.open(SyntaxKind::Group);
        self.bump();
        self.depth += 1;
        self.statements(Inside::Group);
        self.depth -= 1;
        self.expect_close(SyntaxKind::RightParen, "expected ')'", opened, "the group starts here");
        self.close();
    }

    pub(super) fn compound(&mut self) {
        let opened = self.span();
        if self.too_deep("compound element") {
            return;
        }
        self.open(SyntaxKind::Compound);
        self.bump();
        self.depth += 1;
        self.overloads();
        self.depth -= 1;
        self.expect_close(SyntaxKind::RightBrace, "expected '}'", opened, "the compound element starts here");
        self.close();
    }

    fn overloads(&mut self) {
        let mut first = true;
        loop {
            if self.at(SyntaxKind::Dots) {
                self.extension(first);
            } else {
                self.overload();
            }
            first = false;
            if !self.eat(SyntaxKind::BarBar) {
                return;
            }
        }
    }

    /// `...`, which must come last.
    fn extension(&mut self, first: bool) {
        let place = self.span();
        self.bump();
        if first || !self.at(SyntaxKind::RightBrace) {
            self.error(Diagnostic::error(place, "'...' should occur last, after one or more compounds"));
            self.statements(Inside::Compound);
        }
    }

    fn overload(&mut self) {
        self.open(SyntaxKind::Overload);
        if self.at_formals() {
            self.formals();
        }
        self.statements(Inside::Compound);
        self.close();
    }

    fn at_formals(&mut self) -> bool {
        use SyntaxKind::*;
        match self.kind() {
            Variable | Bar => true,
            Ident => self.peek() == Variable,
            _ => false,
        }
    }

    fn formals(&mut self) {
        use SyntaxKind::*;
        self.open(Formals);
        while !self.eat(Bar) {
            self.eat(Ident);
            if !self.eat(Variable) {
                self.error(
                    Diagnostic::error(self.span(), "expected variable")
                        .hint("parameters are written '$a, KEYWORD $b |'"),
                );
                break;
            }
            if self.at(Bar) {
                continue;
            }
            if !self.eat(Comma) {
                self.error(Diagnostic::error(self.span(), "expected ',' or '|'"));
                if !self.at(Variable) {
                    break;
                }
            }
        }
        self.close();
    }

    fn expect_close(&mut self, kind: SyntaxKind, message: &str, opened: Span, remark: &str) {
        if !self.eat(kind) {
            self.error(Diagnostic::error(self.span(), message).aside(opened, remark));
        }
    }

    /// Refuses to go deeper than [`MAX_DEPTH`]: complains and skips to where the compound or group ends.
    fn too_deep(&mut self, what: &str) -> bool {
        if self.depth < MAX_DEPTH {
            return false;
        }
        let message = format!("maximum {what} nesting depth exceeded");
        let hint = format!(
            "at most {MAX_DEPTH} may stand inside one another: give some of them a name with 'elementclass'"
        );
        self.error(Diagnostic::error(self.span(), message).hint(hint));
        self.open(SyntaxKind::Error);
        let mut open = 0;
        loop {
            match self.kind() {
                SyntaxKind::LeftBrace | SyntaxKind::LeftParen => open += 1,
                SyntaxKind::RightBrace | SyntaxKind::RightParen => open -= 1,
                SyntaxKind::Eof => break,
                _ => {}
            }
            self.bump();
            if open == 0 {
                break;
            }
        }
        self.close();
        true
    }
}
