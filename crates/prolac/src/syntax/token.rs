//! The kinds of tokens, and the spelling of keywords and punctuation.

/// Makes an enum of words, each with its spelling, listed once.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($word:ident $text:literal)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $name { $($word),* }

        impl $name {
            /// All of them, in the order of their definition.
            pub const ALL: &[$name] = &[$($name::$word),*];

            /// As it is written.
            pub fn text(self) -> &'static str {
                match self { $($name::$word => $text),* }
            }

            /// The one that is written so.
            fn written(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$word),)* _ => None }
            }
        }
    };
}

words! {
    /// The reserved words (language summary, section 2).
    Keyword {
        All "all" Allstatic "allstatic" Bool "bool" Catch "catch" Char "char" Class "class"
        Constructor "constructor" Defaultinline "defaultinline" Else "else" Elseif "elseif" End "end"
        Exception "exception" Export "export" False "false" Field "field" Has "has" Hide "hide" If "if" In "in"
        Inline "inline" Int "int" Let "let" Long "long" Max "max" Min "min" Module "module" Noinline "noinline"
        Notusing "notusing" Outline "outline" Pathinline "pathinline" Rename "rename" SelfWord "self"
        Seqint "seqint" Short "short" Show "show" Static "static" Super "super" Then "then" True "true"
        Uchar "uchar" Uint "uint" Ulong "ulong" Ushort "ushort" Using "using" Void "void"
    }
}

words! {
    /// Operators and punctuation.
    Punct {
        Defines "::=" Implies "==>" CaseBar "|||" ShiftLeftAssign "<<=" ShiftRightAssign ">>="
        MinAssign "min=" MaxAssign "max="
        HasType ":>" Arrow "->" Increment "++" Decrement "--" And "&&" Or "||" Equal "==" NotEqual "!="
        LessEqual "<=" GreaterEqual ">=" ShiftLeft "<<" ShiftRight ">>" AddAssign "+=" SubtractAssign "-="
        MultiplyAssign "*=" DivideAssign "/=" RemainderAssign "%=" AndAssign "&=" XorAssign "^=" OrAssign "|="
        CloseSupport "%}"
        OpenBrace "{" CloseBrace "}" OpenParen "(" CloseParen ")" OpenBracket "[" CloseBracket "]"
        Semicolon ";" Comma "," Dot "." Colon ":" Question "?" At "@" Assign "=" Plus "+" Minus "-" Star "*"
        Slash "/" Percent "%" Ampersand "&" Caret "^" Bar "|" Less "<" Greater ">" Not "!" Tilde "~"
    }
}

impl Keyword {
    /// The keyword spelled so; `__inline` is `inline`.
    pub fn find(text: &str) -> Option<Keyword> {
        if text == "__inline" {
            return Some(Keyword::Inline);
        }
        Keyword::written(text)
    }
}

impl Punct {
    /// The longest one that `text` begins with; `min=` and `max=` are not looked for.
    pub fn find(text: &[u8]) -> Option<Punct> {
        let beginning = |length| Punct::written(str::from_utf8(text.get(..length)?).ok()?);
        (1..=3).rev().find_map(beginning)
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// An identifier.
    Ident,
    /// A reserved word.
    Keyword(Keyword),
    /// A number, right or wrong.
    Number,
    /// `'c'`
    Char,
    /// `"text"`
    Str,
    /// An operator or punctuation.
    Punct(Punct),
    /// `{ C code }` in an expression.
    CBlock,
    /// `%{ C code %}`
    Support,
    /// White space.
    Space,
    /// `// text`, without the end of the line.
    LineComment,
    /// `/* text */`
    BlockComment,
    /// `# 12 "file"` and its like, without the end of the line.
    LineMark,
    /// Another line that begins with `#`; an error.
    Directive,
    /// Characters that mean nothing in Prolac; an error.
    Unknown,
    /// The end of the text.
    End,
}

impl TokenKind {
    /// Whether the parser does not see it.
    pub fn is_trivia(self) -> bool {
        use TokenKind::*;
        matches!(self, Space | LineComment | BlockComment | LineMark | Directive)
    }
}

/// A stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset after its last byte.
    pub end: u32,
}

impl Token {
    /// Its text, given the whole.
    pub fn text(self, whole: &str) -> &str {
        &whole[self.start as usize..self.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_symbol_hides_behind_its_own_beginning() {
        for symbol in Punct::ALL.iter().filter(|p| !p.text().starts_with('m')) {
            assert_eq!(Punct::find(symbol.text().as_bytes()), Some(*symbol));
        }
        assert_eq!(Punct::find(b"min="), None);
    }

    #[test]
    fn keywords_are_found_by_their_spelling() {
        for word in Keyword::ALL {
            assert_eq!(Keyword::find(word.text()), Some(*word));
        }
        assert_eq!(Keyword::find("__inline"), Some(Keyword::Inline));
        assert_eq!(Keyword::find("try"), None);
    }
}
