//! Messages for what people write by habit of other languages, or forget.

use clickwork_source::{Diagnostic, Span};

use super::{Failed, Parser};
use crate::syntax::ast::Path;
use crate::syntax::token::{Keyword, Punct, Token, TokenKind};

impl Parser<'_> {
    /// `:` where `:>` belongs. It is taken for `:>`.
    pub(super) fn single_colon(&mut self) {
        let error = Diagnostic::error(self.here(), "a type follows `:>`, not `:`").hint("write `:>`");
        self.report(error);
        self.tokens[self.at].kind = TokenKind::Punct(Punct::HasType);
    }

    /// `=` or `:=` where `::=` belongs. It is taken for `::=`.
    pub(super) fn single_equals(&mut self) {
        let start = self.start();
        if self.touches_assign() {
            self.bump();
        }
        let written = self.through_next(Span::new(self.file, start, start));
        let message = format!("a definition needs `::=`, not `{}`", self.slice(written));
        self.report(Diagnostic::error(written, message).hint("write `::=`"));
        self.tokens[self.at].kind = TokenKind::Punct(Punct::Defines);
    }

    /// Whether `:=` comes next.
    pub(super) fn touches_assign(&self) -> bool {
        self.at(Punct::Colon) && self.nth_is(1, Punct::Assign) && self.touches(0)
    }

    pub(super) fn colon_equals(&mut self) -> Failed {
        let span = self.here().join(self.span_of(self.nth(1)));
        self.fail(Diagnostic::error(span, "there is no `:=` in Prolac").hint("write `=`"))
    }

    /// `=>` where `==>` belongs.
    pub(super) fn check_arrow_slip(&mut self) -> Result<(), Failed> {
        if !(self.at(Punct::Assign) && self.nth_is(1, Punct::Greater) && self.touches(0)) {
            return Ok(());
        }
        let span = self.here().join(self.span_of(self.nth(1)));
        Err(self.fail(Diagnostic::error(span, "there is no `=>` in Prolac").hint("write `==>`")))
    }

    /// `int x`, a declaration as in C.
    pub(super) fn c_declaration(&mut self) -> Option<Failed> {
        let declared = self.at_builtin() && self.nth(1).kind == TokenKind::Ident;
        declared.then(|| {
            let ty = self.here();
            self.bump();
            self.c_declared(ty)
        })
    }

    /// The next token is a name that the type at `ty` was written before.
    pub(super) fn c_declared(&mut self, ty: Span) -> Failed {
        let (name, ty_text) = (self.text_of(self.token()), self.slice(ty));
        let hint = format!("write `{name} :> {ty_text}`");
        let error = Diagnostic::error(self.through_next(ty), "the type stands after the name in Prolac");
        self.fail(error.hint(hint))
    }

    /// `field a, b` or `exception a, b`
    pub(super) fn one_at_a_time(&mut self, what: &str) -> Failed {
        let message = format!("`{what}` defines one {what}");
        self.fail(Diagnostic::error(self.here(), message).hint(format!("write another `{what}`")))
    }

    pub(super) fn operands_need_parentheses(&mut self) -> Failed {
        let error = Diagnostic::error(self.here(), "several operands need parentheses");
        self.fail(error.hint("write `hide (a, b)`"))
    }

    /// What should be a member of a module is none.
    pub(super) fn unexpected_member(&mut self) -> Failed {
        if self.at_builtin() && self.nth(1).kind == TokenKind::Ident {
            return self.c_member();
        }
        let error = match self.kind() {
            TokenKind::Keyword(Keyword::Export) => "`export` must stand outside of modules",
            _ if self.at_keyword_as_name() => return self.keyword_as_name(),
            _ if self.after_path().is_some() => return self.half_a_member(),
            _ => return self.expected("a method, a field, an exception or a namespace"),
        };
        self.fail(Diagnostic::error(self.here(), error))
    }

    /// `int x;` or `int f(...)` in a module.
    fn c_member(&mut self) -> Failed {
        let (ty, name) = (self.text_of(self.token()), self.text_of(self.nth(1)));
        let span = self.through_next(self.here()).join(self.span_of(self.nth(1)));
        let hint = if self.nth_is(2, Punct::OpenParen) {
            format!("write `{name}(...) :> {ty} ::= ...;`")
        } else {
            format!("write `field {name} :> {ty};`")
        };
        self.fail(Diagnostic::error(span, "the type stands after the name in Prolac").hint(hint))
    }

    /// What stands between the name of a module and its body is neither parents nor imports.
    pub(super) fn unexpected_in_header(&mut self) -> Failed {
        if !self.at_module_operator() {
            return self.expected("`:>`, `has` or `{`");
        }
        let error = Diagnostic::error(self.here(), "a module operator cannot stand here");
        let hint = "operators follow a parent, an import, or the closing brace of the module";
        self.fail(error.hint(hint))
    }

    /// A name with nothing of a definition after it: `f = 1;`, or an expression after a stray semicolon.
    fn half_a_member(&mut self) -> Failed {
        let after = self.after_path().unwrap_or(1);
        let name = self.here().join(self.span_of(self.nth(after - 1)));
        let assigned = self.nth_is(after, Punct::Assign)
            || (self.nth_is(after, Punct::Colon) && self.nth_is(after + 1, Punct::Assign));
        let message = format!("`{}` defines nothing here", self.slice(name));
        let error = Diagnostic::error(name, message);
        self.fail(if assigned {
            error
                .hint("a method is defined with `::=`")
                .hint("a `;` ends a method: expressions are joined with `,`")
        } else if self.nth_is(after, Punct::Colon) {
            error.hint("a type follows `:>`, not `:`")
        } else {
            error.hint("a `;` ends a method: expressions are joined with `,`")
        })
    }

    /// A method's head without `::=`.
    pub(super) fn no_definition(&mut self, name: &Path) -> Failed {
        let name = self.slice(name.span).to_string();
        if self.at(Punct::Semicolon) {
            let error = Diagnostic::error(self.here(), format!("the method `{name}` has no `::=`"));
            return self.fail(
                error
                    .hint("`::=;` leaves the body to other modules")
                    .hint(format!("a field is written `field {name} :> T;`")),
            );
        }
        self.expected("`::=`")
    }

    /// No operand where one must stand.
    pub(super) fn no_operand(&mut self) -> Failed {
        let found = self.describe(self.token());
        let error = Diagnostic::error(self.here(), format!("expected an expression, found {found}"));
        let hint = match self.kind() {
            _ if self.at_builtin() => "this is a type; a cast is written `(int)e`",
            TokenKind::Keyword(Keyword::Catch) => "`catch` stands after the expression",
            TokenKind::Keyword(Keyword::All | Keyword::Allstatic) => "this stands for names, not for a value",
            TokenKind::Keyword(_) => "a keyword cannot be a name",
            TokenKind::Punct(Punct::OpenBrace) => "C code can only stand in the body of a method",
            _ => return self.fail(error),
        };
        self.fail(error.hint(hint))
    }

    /// A definition goes on after its expression, or nothing closes it.
    pub(super) fn missing_semicolon(&mut self, goes_on: bool) -> Failed {
        if !goes_on {
            return self.forgotten_semicolon();
        }
        if self.touches_assign() {
            return self.colon_equals();
        }
        let found = self.describe(self.token());
        let error = Diagnostic::error(self.here(), format!("expected an operator or `;`, found {found}"));
        let hint = self.statement_before().or_else(|| self.closing_hint());
        self.fail(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        })
    }

    /// Nothing closes a definition, and another one begins.
    fn forgotten_semicolon(&mut self) -> Failed {
        let before = self.previous().unwrap_or(self.token());
        let error = Diagnostic::error(self.gap(), "expected `;` after this").hint("add `;`");
        let text = self.text_of(before);
        match before.kind {
            TokenKind::CBlock => {
                let brace = Span::new(self.file, before.start, before.start + 1);
                let error = error.label(brace, "the C code begins here");
                self.last_block_doubtful = true;
                self.fail(error.hint("if the C code should end earlier, a `}` is missing in it"))
            }
            TokenKind::Str | TokenKind::Char if text.len() < 2 || !text.ends_with(['"', '\'']) => Failed,
            _ => self.fail(error),
        }
    }

    /// Whether `(N)` stands before, the name of a module.
    fn after_module_in_parentheses(&self) -> bool {
        let Some(close) = self.at.checked_sub(1) else { return false };
        let open = self.partners[close].filter(|&open| open + 1 < close);
        open.is_some_and(|open| {
            let mut inside = self.tokens[open + 1..close].iter();
            let name = |t: &Token| matches!(t.kind, TokenKind::Ident | TokenKind::Punct(Punct::Dot));
            inside.all(name) && self.tokens[close - 1].kind == TokenKind::Ident && self.is_module(close - 1)
        })
    }

    fn closing_hint(&self) -> Option<&'static str> {
        use Keyword::{Else, Elseif, End, In, Then};
        match self.kind() {
            TokenKind::Keyword(End | In | Then | Else | Elseif) => Some("no `let` or `if` is open here"),
            TokenKind::Punct(Punct::CloseParen | Punct::CloseBracket) => Some("it has no opening partner"),
            _ if self.at_operand() && self.after_module_in_parentheses() => {
                Some("objects are never cast; casts are written `(*M)e` for pointers and `(int)e`")
            }
            _ if self.at_operand() => Some("expressions are joined with `,`"),
            _ => None,
        }
    }

    /// Advice if the token before looks like a statement of C or Java.
    pub(super) fn statement_before(&self) -> Option<&'static str> {
        let before = self.previous()?;
        let word = if before.kind == TokenKind::Punct(Punct::CloseParen) {
            self.tokens[self.partners[self.at - 1]?.checked_sub(1)?]
        } else {
            before
        };
        statement_hint(self.text_of(word))
    }

    /// No `)` before a `;`, which old programs leave out now and then.
    pub(super) fn forgive_paren(&mut self, open: usize) {
        let opening = self.span_of(self.tokens[open]);
        self.report(
            Diagnostic::warning(self.here(), "a closing parenthesis is missing before this `;`")
                .label(opening, "the parenthesis opened here")
                .hint(
                    "old programs do so; put `)` where it belongs, because here it closes as late as it can",
                ),
        );
    }

    /// No `)` where one is needed.
    pub(super) fn missing_paren(&mut self, open: usize) -> Failed {
        let found = self.describe(self.token());
        let opening = self.span_of(self.tokens[open]);
        let error = Diagnostic::error(self.here(), format!("expected `,` or `)`, found {found}"))
            .label(opening, "the parenthesis opened here");
        let called = open.checked_sub(1).and_then(|i| statement_hint(self.text_of(self.tokens[i])));
        let hint = called.or_else(|| self.statement_before());
        let failed = self.fail(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        });
        if let (Some(_), Some(close)) = (called, self.partners[open]) {
            self.at = close;
        }
        failed
    }

    /// `min` or `max` with one argument or three.
    pub(super) fn not_two(&mut self, word: Token) -> Failed {
        let found = self.describe(self.token());
        let message =
            format!("`{}` takes two arguments: expected `,` or `)`, found {found}", self.text_of(word));
        self.fail(Diagnostic::error(self.here(), message))
    }

    /// `c ? a` without `: b`. In `c ? a :>b` the colon has become part of `:>`.
    pub(super) fn missing_colon(&mut self, question: Token, asserted: bool) -> Failed {
        let found = self.describe(self.token());
        let error = Diagnostic::error(self.here(), format!("expected `:`, found {found}"))
            .label(self.span_of(question), "for this `?`");
        self.fail(if asserted { error.hint("`:>` is one symbol, which a type follows") } else { error })
    }

    /// `then`, `in` or `end` is missing.
    pub(super) fn missing_word(&mut self, word: Keyword, opening: Span) -> Failed {
        let (word, found) = (word.text(), self.describe(self.token()));
        let construct = self.slice(opening);
        let message = format!("expected `{word}`, found {found}");
        let error = Diagnostic::error(self.here(), message)
            .label(opening, format!("for this `{construct}`"))
            .hint(format!("`{construct}` needs `{word}`"));
        let hint = self.statement_before();
        self.fail(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        })
    }
}

/// Advice about a word that begins a statement or an expression in C, Java or the like but is a mere name in Prolac.
pub fn statement_hint(word: &str) -> Option<&'static str> {
    Some(match word {
        "while" | "for" | "do" | "loop" => "Prolac has no loops: use tail recursion",
        "return" => "there is no `return`: the value of the body is the value of the method",
        "try" => "there is no `try`: `catch` stands after the expression, `e catch x`",
        "throw" | "raise" => "an exception is raised by its name alone",
        "switch" | "case" => "write `a ==> b ||| c ==> d ||| e`",
        "new" => "objects are made with `M(...)` or `let v :> M(...) in ... end`",
        "goto" | "break" | "continue" => "Prolac has no jumps: use exceptions or tail recursion",
        "not" => "write `!`",
        _ => return None,
    })
}
