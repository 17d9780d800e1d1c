//! `Classifier` patterns: `12/0806 20/0001`, `12/0800%ff00`, `!12/0800`, `12/08??`, `-`.
//!
//! A pattern is a list of clauses, all of which must hold. A clause gives an offset from the start of the
//! packet and hexadecimal bytes; `?` stands for any nibble, `%` introduces a mask, `!` negates.

use std::ops::Range;

use crate::Compiled;
use crate::diagram::Target;
use crate::error::FilterError;
use crate::expr::{Expr, Test};
use crate::headers::Base;
use crate::program::Program;

/// The largest offset of a byte: packets have at most 64 KiB.
const LAST_OFFSET: usize = 0xffff;

/// Compiles one pattern per output port; a packet leaves by the first that it matches.
///
/// # Errors
/// Everything that is wrong with any of the patterns.
pub fn classifier<S: AsRef<str>>(patterns: &[S]) -> Result<Compiled, Vec<FilterError>> {
    let mut rules = Vec::with_capacity(patterns.len());
    let mut errors = Vec::new();
    for (argument, pattern) in patterns.iter().enumerate() {
        let mut parser = Parser { text: pattern.as_ref(), at: 0, argument, errors: &mut errors };
        rules.push((parser.pattern(), Target::Output(argument as u32)));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let program = Program::from_rules(&rules);
    let warnings = unused_outputs(&program, patterns);
    Ok(Compiled { program, warnings })
}

/// A warning for every pattern that no packet can reach.
pub(crate) fn unused_outputs<S: AsRef<str>>(program: &Program, patterns: &[S]) -> Vec<FilterError> {
    let used = program.outputs();
    let unused = patterns.iter().enumerate().filter(|(port, _)| !used.contains(port));
    unused
        .map(|(port, pattern)| {
            FilterError::warning(port, 0..pattern.as_ref().len(), format!("output {port} matches no packets"))
                .with_hint(
                    "an earlier pattern takes all its packets, or its conditions contradict each other",
                )
        })
        .collect()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    argument: usize,
    errors: &'a mut Vec<FilterError>,
}

impl Parser<'_> {
    fn pattern(&mut self) -> Expr {
        if self.text == "-" {
            return Expr::Always(true);
        }
        let mut clauses = Vec::new();
        loop {
            self.skip_spaces();
            if self.at == self.text.len() {
                return Expr::And(clauses);
            }
            match self.clause() {
                Ok(clause) => clauses.push(clause),
                Err(error) => {
                    self.errors.push(error);
                    self.skip_clause();
                }
            }
        }
    }

    fn clause(&mut self) -> Result<Expr, FilterError> {
        let negated = self.peek() == Some(b'!');
        if negated {
            self.at += 1;
            self.skip_spaces();
        }
        let offset = self.offset()?;
        let value = self.digits(|byte| byte.is_ascii_hexdigit() || byte == b'?');
        let mask = (self.peek() == Some(b'%')).then(|| {
            self.at += 1;
            self.digits(|byte| byte.is_ascii_hexdigit() || byte == b'?')
        });
        self.check_lengths(&value, mask.as_ref())?;
        let clause = Expr::And(self.tests(offset, value, mask)?);
        Ok(if negated { Expr::Not(Box::new(clause)) } else { clause })
    }

    /// The offset and the slash after it.
    fn offset(&mut self) -> Result<Range<usize>, FilterError> {
        let digits = self.digits(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            let hint = "write OFFSET/BYTES, for example 12/0800, or - for every packet";
            return Err(self.error(self.here(), "expected a digit").with_hint(hint));
        }
        if self.peek() != Some(b'/') {
            return Err(self
                .error(self.here(), "expected '/'")
                .with_hint("write OFFSET/BYTES, for example 12/0800"));
        }
        self.at += 1;
        Ok(digits)
    }

    fn check_lengths(&self, value: &Range<usize>, mask: Option<&Range<usize>>) -> Result<(), FilterError> {
        let hint = "write two hexadecimal digits (or ??) for each byte";
        if value.len() < 2 {
            return Err(self.error(value.clone(), "value has less than 2 hex digits").with_hint(hint));
        }
        if !value.len().is_multiple_of(2) {
            return Err(self.error(value.clone(), "value has odd number of hex digits").with_hint(hint));
        }
        let Some(mask) = mask.filter(|mask| mask.len() != value.len()) else { return Ok(()) };
        let message =
            format!("mask has too {} hex digits", if mask.len() > value.len() { "many" } else { "few" });
        let hint = format!("the value has {} digits: the mask must have as many", value.len());
        Err(self.error(mask.clone(), message).with_hint(hint))
    }

    /// The word tests of one clause. Words lie at multiples of 4.
    fn tests(
        &self,
        offset: Range<usize>,
        value: Range<usize>,
        mask: Option<Range<usize>>,
    ) -> Result<Vec<Expr>, FilterError> {
        let count = value.len() / 2;
        let first =
            self.text[offset.clone()].parse::<usize>().ok().filter(|first| first + count - 1 <= LAST_OFFSET);
        let Some(first) = first else {
            let hint = format!("the last byte of a packet is at most at offset {LAST_OFFSET}");
            return Err(self.error(offset, "offset out of range").with_hint(hint));
        };
        let mut tests: Vec<Test> = Vec::new();
        for index in 0..count {
            let (wanted, relevant) = self.byte(value.start + 2 * index);
            let (limit, known) = mask.as_ref().map_or((0xff, 0xff), |mask| self.byte(mask.start + 2 * index));
            let place = first + index;
            let shift = 24 - 8 * (place % 4);
            let word = (place / 4 * 4) as u16;
            if tests.last().is_none_or(|test| test.offset != word) {
                tests.push(Test::new(Base::Ether, word, 0, 0));
            }
            let test = tests.last_mut().expect("one was just pushed");
            let bits = relevant & limit & known;
            test.mask |= bits << shift;
            test.value |= (wanted & bits) << shift;
        }
        Ok(tests.into_iter().map(Expr::Test).collect())
    }

    /// The two digits at `at` as a byte and the mask of its nibbles that are not `?`.
    fn byte(&self, at: usize) -> (u32, u32) {
        let nibble = |at: usize| {
            let digit = char::from(self.text.as_bytes()[at]).to_digit(16);
            digit.map_or((0, 0), |digit| (digit, 0xf))
        };
        let ((high, high_known), (low, low_known)) = (nibble(at), nibble(at + 1));
        (high << 4 | low, high_known << 4 | low_known)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        self.digits(|byte| byte.is_ascii_whitespace());
    }

    fn skip_clause(&mut self) {
        self.digits(|byte| !byte.is_ascii_whitespace());
    }

    /// The bytes from here on that are `wanted`; moves behind them.
    fn digits(&mut self, wanted: impl Fn(u8) -> bool) -> Range<usize> {
        let start = self.at;
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
        start..self.at
    }

    /// The place of the next character, or the end.
    fn here(&self) -> Range<usize> {
        let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        self.at..self.at + next.map_or(0, char::len_utf8)
    }

    fn error(&self, range: Range<usize>, message: impl AsRef<str>) -> FilterError {
        let message = format!("pattern {}: {}", self.argument, message.as_ref());
        FilterError::error(self.argument, range, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::Headers;

    fn classify(patterns: &[&str], packet: &[u8]) -> Option<usize> {
        classifier(patterns).unwrap().program.classify(&Headers::raw(packet))
    }

    fn messages(patterns: &[&str]) -> Vec<String> {
        classifier(patterns).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn clauses_are_anded_and_the_first_pattern_wins() {
        let patterns = ["1/02 5/0607", "1/02", "-"];
        assert_eq!(classify(&patterns, &[1, 2, 3, 4, 5, 6, 7]), Some(0));
        assert_eq!(classify(&patterns, &[1, 2, 3, 4, 5, 6, 8]), Some(1));
        assert_eq!(classify(&patterns, &[1, 2, 3, 4, 5, 6]), Some(1));
        assert_eq!(classify(&patterns, &[1, 3]), Some(2));
    }

    #[test]
    fn nibbles_masks_and_negation() {
        assert_eq!(classify(&["0/4?"], &[0x45]), Some(0));
        assert_eq!(classify(&["0/4?"], &[0x54]), None);
        assert_eq!(classify(&["0/1234%ff0f"], &[0x12, 0xf4]), Some(0));
        assert_eq!(classify(&["0/1234%ff0f"], &[0x12, 0xf5]), None);
        assert_eq!(classify(&["! 0/45"], &[0x45]), None);
        assert_eq!(classify(&["!0/45"], &[]), Some(0), "what is not there does not match");
        assert_eq!(classify(&["0/????"], &[]), Some(0), "nothing is asked");
    }

    #[test]
    fn values_longer_than_a_word() {
        let pattern = ["3/0102030405"];
        assert_eq!(classify(&pattern, &[0, 0, 0, 1, 2, 3, 4, 5]), Some(0));
        assert_eq!(classify(&pattern, &[0, 0, 0, 1, 2, 3, 4, 6]), None);
        assert_eq!(classify(&pattern, &[0, 0, 0, 1, 2, 3, 4]), None);
    }

    #[test]
    fn all_errors_of_all_patterns_are_reported() {
        let expected = [
            "pattern 0: expected a digit",
            "pattern 0: expected '/'",
            "pattern 2: value has less than 2 hex digits",
            "pattern 2: value has odd number of hex digits",
            "pattern 3: mask has too few hex digits",
            "pattern 3: mask has too many hex digits",
            "pattern 4: offset out of range",
        ];
        let patterns = ["x/00 12", "-", "0/ 0/123", "0/1234%12 0/12%1234", "65535/0011"];
        assert_eq!(messages(&patterns), expected);
        assert_eq!(classifier(&["12/08 é"]).unwrap_err()[0].range, 6..8);
        assert_eq!(classifier(&["0/00 !"]).unwrap_err()[0].range, 6..6);
    }

    #[test]
    fn a_pattern_that_nothing_reaches_is_a_warning() {
        let compiled = classifier(&["12/0800", "12/0800 20/01"]).unwrap();
        assert_eq!(compiled.warnings.len(), 1);
        assert_eq!(compiled.warnings[0].message, "output 1 matches no packets");
    }

    #[test]
    fn the_program_prints_as_in_click() {
        let compiled = classifier(&["12/0806 20/0001", "12/0806 20/0002", "12/0800", "-"]).unwrap();
        let expected = concat!(
            " 0  12/08060000%ffff0000  yes->step 1  no->step 3\n",
            " 1  20/00010000%ffff0000  yes->[0]  no->step 2\n",
            " 2  20/00020000%ffff0000  yes->[1]  no->[3]\n",
            " 3  12/08000000%ffff0000  yes->[2]  no->[3]\n",
            "safe length 22\n",
            "alignment offset 0\n",
        );
        assert_eq!(compiled.program.to_string(), expected);
        assert_eq!(
            classifier(&["-"]).unwrap().program.to_string(),
            "all->[0]\nsafe length 0\nalignment offset 0\n"
        );
    }
}
