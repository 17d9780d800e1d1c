//! AlignmentInfo: tells how packets lie in memory where they enter an element.

use clickwork_router::args::{ArgError, ArgSpec, ArgType, Args, FromArg, Names, split_words};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "tells how packets lie in memory",
    manual: "Each argument is the name of an element, then CHUNK and OFFSET for each of its inputs: packets that enter it \
             begin OFFSET bytes behind a multiple of CHUNK. click-align writes it. Nothing here depends on alignment, so \
             it is checked and otherwise ignored.",
    example: "AlignmentInfo(c 4 2); \
              InfiniteSource(LIMIT 1, STOP true) -> c :: Classifier(12/0800, -)[0-1] => Discard, Discard",
    ports: "0/0",
    phase: phase::INFO,
    args: &[ArgSpec::rest(
        "ELEMENT",
        ArgType::Other("ELEMENT CHUNK OFFSET..."),
        "an element, and how packets on its inputs are aligned",
    )],
    ..Class::new("AlignmentInfo", "info", || Box::new(AlignmentInfo))
};

struct AlignmentInfo;

impl Element for AlignmentInfo {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        for (index, entry) in args.rest().to_vec().iter().enumerate() {
            if let Err(what) = check(entry, args.names()) {
                args.report_in_rest(index, ArgError::new(what).hint("such as 'c 4 2'"));
            }
        }
    }
}

/// Whether one argument is well formed; an empty one is.
fn check(entry: &str, names: &Names) -> Result<(), &'static str> {
    let words = split_words(entry);
    let Some((_, numbers)) = words.split_first() else { return Ok(()) };
    if numbers.len() % 2 != 0 {
        return Err("expected 'ELEMENTNAME CHUNK OFFSET [CHUNK OFFSET...]'");
    }
    let is_number = |text: &str| i32::from_arg(text, names).is_ok();
    for pair in numbers.chunks(2) {
        if !is_number(&pair[0]) {
            return Err("expected CHUNK");
        } else if !is_number(&pair[1]) {
            return Err("expected OFFSET");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_a_name_and_pairs_of_numbers() {
        let check = |entry| check(entry, &Names::default());
        assert_eq!([check(""), check("a"), check("a 4 2 8 0"), check("a -1 -1")], [Ok(()); 4]);
        assert_eq!(check("a 4"), Err("expected 'ELEMENTNAME CHUNK OFFSET [CHUNK OFFSET...]'"));
        assert_eq!([check("a x 2"), check("a 4 x")], [Err("expected CHUNK"), Err("expected OFFSET")]);
    }
}
