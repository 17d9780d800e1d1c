//! Expressions: `tcp && (src port 80 or 81) ? dst net 10.0.0.0/8 : not icmp`.
//!
//! ```text
//! expr   ::= or | or ? expr : expr
//! or     ::= term | term (or | ||) or
//! term   ::= factor | factor (and | &&)? term
//! factor ::= (not | !) factor | ( expr ) | test
//! test   ::= true | false | qualifier* [ [POS:LEN] ] [& MASK] [operator] [value]
//! ```
//!
//! After an error parsing goes on with the next word, so that one run reports all errors.

use super::Report;
use super::brackets::brackets;
use super::lexer::{Word, ether_address, integer, integer_range, ip_address, ip_prefix};
use super::lower::lower;
use super::names::Names;
use super::primitive::{Draft, Field, Header, Kind, Mask, Previous, Side, Value};
use super::relation::Operator;
use super::vocabulary::{Meaning, is_syntax, meaning, type_word};
use crate::expr::Expr;

/// How deep parentheses and conditionals may nest.
const DEPTH: usize = 200;

pub(super) struct Parser<'a, 'r> {
    words: &'a [Word<'a>],
    at: usize,
    depth: usize,
    /// The rest was given up; what is missing there is no further error.
    too_deep: bool,
    previous: Previous,
    names: &'a dyn Names,
    report: &'a mut Report<'r>,
}

impl<'a, 'r> Parser<'a, 'r> {
    pub fn new(words: &'a [Word<'a>], names: &'a dyn Names, report: &'a mut Report<'r>) -> Self {
        Self { words, at: 0, depth: 0, too_deep: false, previous: Previous::default(), names, report }
    }

    /// All words as one expression; what it is worth after an error does not matter.
    pub fn parse(mut self) -> Expr {
        let expr = self.expr();
        if self.at < self.words.len() {
            let word = self.here();
            let message = format!("garbage after expression at '{}'", word.text);
            self.report.error(&word, message, "remove it, or check that parentheses are in pairs");
        }
        expr
    }

    fn expr(&mut self) -> Expr {
        let mut cases = Vec::new();
        loop {
            let condition = self.alternatives();
            if !self.take(&["?"]) {
                return if cases.is_empty() { condition } else { Expr::Choice(cases, Box::new(condition)) };
            }
            let result = self.nested();
            if !self.take(&[":"]) {
                if self.too_deep {
                    return condition;
                }
                let word = self.here();
                let hint = "write CONDITION ? EXPRESSION : EXPRESSION, with spaces around the colon";
                self.report.error(&word, "missing ':' in ternary expression", hint);
                return condition;
            }
            cases.push((condition, result));
        }
    }

    fn nested(&mut self) -> Expr {
        if self.depth == DEPTH {
            let word = self.here();
            let message = format!("expression nested more than {DEPTH} levels deep");
            self.report.error(&word, message, "split it into several patterns");
            self.at = self.words.len();
            self.too_deep = true;
            return Expr::Always(false);
        }
        self.depth += 1;
        let expr = self.expr();
        self.depth -= 1;
        expr
    }

    fn alternatives(&mut self) -> Expr {
        let mut terms = vec![self.term()];
        while self.take(&["or", "||"]) {
            terms.push(self.term());
        }
        if terms.len() == 1 { terms.remove(0) } else { Expr::Or(terms) }
    }

    fn term(&mut self) -> Expr {
        let mut factors = Vec::new();
        let mut wanted = true;
        while let Some(factor) = self.factor() {
            factors.push(factor);
            wanted = self.take(&["and", "&&"]);
        }
        if wanted {
            let word = self.here();
            self.report.error(
                &word,
                "missing expression",
                "write a condition here, for example 'tcp' or 'src port 80'",
            );
        }
        if factors.len() == 1 { factors.remove(0) } else { Expr::And(factors) }
    }

    /// `None` at a word that no factor begins with.
    fn factor(&mut self) -> Option<Expr> {
        let mut negated = false;
        let first = self.at;
        while self.take(&["not", "!"]) {
            negated = !negated;
        }
        let factor = if self.take(&["("]) { Some(self.parenthesised()) } else { self.test(&mut negated) };
        match factor {
            Some(expr) if negated => Some(Expr::Not(Box::new(expr))),
            None if self.at > first => {
                let word = self.here();
                let message = format!("missing expression after '{}'", self.words[self.at - 1].text);
                self.report.error(&word, message, "write the condition to negate");
                Some(Expr::Always(false))
            }
            factor => factor,
        }
    }

    fn parenthesised(&mut self) -> Expr {
        let open = self.words[self.at - 1];
        if self.take(&[")"]) {
            self.report.error(
                &open,
                "missing expression after '('",
                "write a condition between the parentheses",
            );
            return Expr::Always(false);
        }
        let expr = self.nested();
        if !self.take(&[")"]) && !self.too_deep {
            let word = if self.at < self.words.len() { self.here() } else { open };
            self.report.error(&word, "missing ')'", format!("the '(' at byte {} is not closed", open.start));
        }
        expr
    }

    /// `None` at the end and at words that end a test before it begins. A `not` among the qualifiers flips
    /// `negated`.
    fn test(&mut self, negated: &mut bool) -> Option<Expr> {
        let first = self.here();
        match first.text {
            "" | ")" | "||" | "or" | "?" | ":" => return None,
            "true" | "false" => {
                self.at += 1;
                return Some(Expr::Always(first.text == "true"));
            }
            _ => {}
        }
        let start = self.at;
        let mut draft = Draft::new();
        self.qualifiers(&mut draft, negated);
        let mut previous = self.previous;
        if self.at > start {
            previous = Previous::default();
        } else if previous.kind == Some(Kind::Ether) {
            draft.header = Some(Header::Ether);
        }
        if self.at > start && draft.kind.is_none() && self.take(&["["]) {
            draft.kind = brackets(self.words, &mut self.at, draft.protocol, self.report).map(Kind::Field);
        }
        self.mask(&mut draft);
        self.operator(&mut draft);
        let understood = self.value(&mut draft);
        if self.at == start {
            self.at += 1;
            let message = format!("empty term near '{}'", first.text);
            self.report.error(
                &first,
                message,
                "this word is not known here; names come from AddressInfo and its like",
            );
            return Some(Expr::Always(false));
        }
        if !understood {
            return Some(Expr::Always(false));
        }
        Some(self.checked(draft, &previous, first))
    }

    fn checked(&mut self, draft: Draft, previous: &Previous, first: Word<'_>) -> Expr {
        match draft.check(previous) {
            Ok((primitive, next, warning)) => {
                if let Some((message, hint)) = warning {
                    self.report.warn_over(&first, &self.words[self.at - 1], message, hint);
                }
                self.previous = next;
                lower(&primitive)
            }
            Err((message, hint)) => {
                self.report.error_over(&first, &self.words[self.at - 1], message, hint);
                Expr::Always(false)
            }
        }
    }

    fn qualifiers(&mut self, draft: &mut Draft, negated: &mut bool) {
        while self.at < self.words.len() {
            let word = self.here();
            if let Some(kind) = type_word(word.text) {
                self.set_kind(draft, kind, &word);
            } else if let Meaning::Value(Kind::Protocol, protocol) =
                meaning(self.names, word.text, None, None)
            {
                self.set_protocol(draft, protocol, &word);
            } else {
                match word.text {
                    "src" => self.set_side(draft, Side::Source, &word),
                    "dst" | "dest" => self.set_side(draft, Side::Destination, &word),
                    "not" | "!" => *negated = !*negated,
                    "ip" if draft.header.is_none() => draft.header = Some(Header::Ip),
                    "ether" if draft.header.is_none() => draft.header = Some(Header::Ether),
                    _ => return,
                }
            }
            self.at += 1;
        }
    }

    fn set_kind(&mut self, draft: &mut Draft, kind: Kind, word: &Word<'_>) {
        if draft.kind.is_some() {
            self.report.error(word, "type specified twice", "put 'and' or 'or' between two conditions");
        }
        draft.kind = Some(kind);
        if let Kind::Field(Field { protocol: Some(protocol), .. }) = kind {
            self.set_protocol(draft, protocol, word);
        }
    }

    fn set_protocol(&mut self, draft: &mut Draft, protocol: u32, word: &Word<'_>) {
        if draft.protocol.is_some_and(|already| already != protocol) {
            let hint = "put 'or' between two protocols: a packet has one of them";
            self.report.error(word, "transport protocol specified twice", hint);
        }
        draft.protocol = Some(protocol);
    }

    /// `src`, `dst`, and with `src`, perhaps `and dst` or `or dst` after it.
    fn set_side(&mut self, draft: &mut Draft, mut side: Side, word: &Word<'_>) {
        let text = |ahead: usize| self.words.get(self.at + ahead).map_or("", |word| word.text);
        if side == Side::Source && matches!(text(2), "dst" | "dest") {
            let both = match text(1) {
                "and" | "&&" => Some(Side::Both),
                "or" | "||" => Some(Side::Either),
                _ => None,
            };
            if let Some(both) = both {
                side = both;
                self.at += 2;
            }
        }
        if draft.side.is_some() {
            self.report.error(
                word,
                "'src' or 'dst' specified twice",
                "write 'src or dst', 'src and dst', or one of them",
            );
        }
        draft.side = Some(side);
    }

    fn mask(&mut self, draft: &mut Draft) {
        let word = self.here();
        if word.text != "&" {
            return;
        }
        let operand = self.words.get(self.at + 1).map_or("", |word| word.text);
        let integer = integer(operand).and_then(|mask| u32::try_from(mask).ok());
        let mask = if let Some(mask) = integer {
            Mask::Integer(mask)
        } else if let Some(mask) = self.address(operand).filter(|_| draft.header != Some(Header::Ether)) {
            Mask::Address(mask)
        } else if let Some(mask) = self.ether(operand).filter(|_| draft.header != Some(Header::Ip)) {
            Mask::Ether(mask)
        } else {
            return;
        };
        self.at += 2;
        if matches!(mask, Mask::Integer(0) | Mask::Address(0)) {
            self.report.error(
                &self.words[self.at - 1],
                "zero mask ignored",
                "no bits are compared: use another mask",
            );
        }
        draft.mask = Some(mask);
    }

    fn operator(&mut self, draft: &mut Draft) {
        (draft.operator, draft.negated) = match self.here().text {
            "=" | "==" => (Operator::Equal, false),
            "!=" => (Operator::Equal, true),
            ">" => (Operator::Greater, false),
            "<" => (Operator::Less, false),
            ">=" => (Operator::Less, true),
            "<=" => (Operator::Greater, true),
            _ => return,
        };
        self.at += 1;
    }

    /// Takes the value, if the next word is one. False after an error.
    fn value(&mut self, draft: &mut Draft) -> bool {
        let word = self.here();
        match self.value_of(&word, draft) {
            Ok(Value::None) => {
                let dangling = draft.operator != Operator::Equal || draft.negated;
                if dangling {
                    let message = format!("dangling operator near '{}'", word.text);
                    self.report.error(
                        &word,
                        message,
                        "write a number, an address or a known name after the operator",
                    );
                }
                !dangling
            }
            Ok(value) => {
                self.at += 1;
                draft.value = self.masked(value);
                true
            }
            Err((message, hint)) => {
                self.at += 1;
                self.report.error(&word, message, hint);
                false
            }
        }
    }

    /// What the word is as a value; [`Value::None`] if it is none.
    fn value_of(&self, word: &Word<'_>, draft: &Draft) -> Result<Value, (String, String)> {
        let text = word.text;
        if text.is_empty() || is_syntax(text) || type_word(text).is_some() {
            return Ok(Value::None);
        }
        let addressed = matches!(draft.kind, Some(Kind::Host | Kind::Net));
        if addressed && let Some(value) = self.address_value(text, draft) {
            return Ok(value);
        }
        match meaning(self.names, text, draft.kind, draft.protocol) {
            Meaning::Value(kind, number) => return Ok(Value::Named(kind, number)),
            Meaning::Unclear(message, hint) => return Err((message, hint)),
            Meaning::Unknown => {}
        }
        let number = integer(text).map(Value::Integer);
        let value = number.or_else(|| self.address_value(text, draft));
        let range = || integer_range(text).map(|(low, high)| Value::Range(low, high));
        Ok(value.or_else(range).unwrap_or(Value::None))
    }

    fn address_value(&self, text: &str, draft: &Draft) -> Option<Value> {
        if draft.header != Some(Header::Ether) {
            let prefix = || self.prefix(text).map(|(address, mask)| Value::Net(address, mask));
            let prefix_first = if draft.kind == Some(Kind::Net) { prefix() } else { None };
            let found = prefix_first.or_else(|| self.address(text).map(Value::Host)).or_else(prefix);
            if found.is_some() {
                return found;
            }
        }
        if draft.header == Some(Header::Ip) { None } else { self.ether(text).map(Value::Ether) }
    }

    /// An address with `mask MASK` after it is a network.
    fn masked(&mut self, value: Value) -> Value {
        let Value::Host(address) = value else { return value };
        let mask = self.words.get(self.at + 1).and_then(|word| self.address(word.text));
        match mask {
            Some(mask) if self.here().text == "mask" => {
                self.at += 2;
                Value::Net(address, mask)
            }
            _ => value,
        }
    }

    fn address(&self, text: &str) -> Option<u32> {
        ip_address(text).or_else(|| self.names.ip_address(text))
    }

    fn prefix(&self, text: &str) -> Option<(u32, u32)> {
        ip_prefix(text).or_else(|| self.names.ip_prefix(text))
    }

    fn ether(&self, text: &str) -> Option<[u8; 6]> {
        ether_address(text).or_else(|| self.names.ether_address(text))
    }

    /// The next word, or an empty one at the end.
    fn here(&self) -> Word<'a> {
        self.words.get(self.at).copied().unwrap_or(self.report.end())
    }

    /// Moves over the next word if it is one of these.
    fn take(&mut self, texts: &[&str]) -> bool {
        let found = texts.contains(&self.here().text);
        self.at += usize::from(found);
        found
    }
}
