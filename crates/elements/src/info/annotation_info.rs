//! AnnotationInfo: names for packet annotations.

use clickwork_packet::ANNO_SIZE;
use clickwork_packet::anno::Anno;
use clickwork_router::args::{
    ArgError, ArgSpec, ArgType, Args, FromArg, NameValue, Names, is_word, split_words,
};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "gives names to packet annotations",
    manual: "Each argument is a name, the offset or name of an annotation, and perhaps its size in bytes. Elements in the \
             same compound and in those within may write the name wherever they take an annotation. An argument \
             'CHECK_OVERLAP NAME NAME...' makes it an error if two of these annotations share a byte.",
    example: "AnnotationInfo(COLOR 20 1, CHECK_OVERLAP COLOR PAINT); \
              InfiniteSource(LIMIT 1, STOP true) -> Paint(3, COLOR) -> Discard",
    ports: "0/0",
    phase: phase::INFO,
    args: &[ArgSpec::rest("NAME", ArgType::Other("NAME OFFSET [SIZE]"), "a name and its annotation")],
    ..Class::new("AnnotationInfo", "info", || Box::<AnnotationInfo>::default())
};

const CHECK_OVERLAP: &str = "CHECK_OVERLAP";

/// The lists to be checked once all names are known.
#[derive(Default)]
struct AnnotationInfo {
    checks: Vec<Vec<String>>,
}

impl Element for AnnotationInfo {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        for (index, entry) in args.rest().to_vec().iter().enumerate() {
            let words = split_words(entry);
            match words.split_first() {
                Some((first, list)) if first == CHECK_OVERLAP => self.checks.push(list.to_vec()),
                Some((name, rest)) if !name.starts_with('#') => {
                    if let Err(error) = define(name, rest, args.names()) {
                        args.report_in_rest(index, error);
                    }
                }
                _ => {}
            }
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let names = cx.names();
        let problems: Vec<String> = self.checks.iter().flat_map(|list| overlaps(list, &names)).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
    }
}

/// Defines `name` as the annotation that `rest` describes.
fn define(name: &str, rest: &[String], names: &Names) -> Result<(), ArgError> {
    if !is_word(name) || Anno::from_arg(name, &Names::default()).is_ok() {
        let hint = "a name must be one word and none of Click's own annotations";
        return Err(ArgError::new(format!("bad NAME '{name}'")).hint(hint));
    }
    let anno = annotation(rest, names).ok_or_else(|| {
        let hint = format!("expected an offset or annotation, and a size, within {ANNO_SIZE} bytes");
        ArgError::new(format!("bad entry for '{name}'")).hint(hint)
    })?;
    names.define(name, NameValue::Anno(anno));
    Ok(())
}

fn annotation(words: &[String], names: &Names) -> Option<Anno> {
    let (place, size) = match words {
        [place] => (place, None),
        [place, size] => (place, Some(size)),
        _ => return None,
    };
    let anno = Anno::from_arg(place, names).ok()?;
    let size = size.map_or(Some(anno.size), |size| u8::from_arg(size, names).ok())?;
    let agrees = size == 0 || anno.size == 0 || size == anno.size;
    let fits = usize::from(anno.offset) + usize::from(size) <= ANNO_SIZE;
    (agrees && fits).then(|| Anno::new(anno.offset, size))
}

/// What is wrong with a list of annotations that must not overlap.
fn overlaps(list: &[String], names: &Names) -> Vec<String> {
    let mut problems = Vec::new();
    let mut known: Vec<(&str, std::ops::Range<u8>)> = Vec::new();
    for name in list {
        let Ok(anno) = Anno::from_arg(name, names) else {
            problems.push(format!("bad ANNO '{name}'"));
            continue;
        };
        let bytes = anno.offset..anno.offset + anno.size.max(1);
        let clashes = known.iter().filter(|(_, other)| bytes.start < other.end && other.start < bytes.end);
        problems.extend(clashes.map(|(other, _)| format!("annotations '{other}' and '{name}' conflict")));
        known.push((name, bytes));
    }
    problems
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn names_stand_for_annotations() {
        let mut t = Harness::new(
            "AnnotationInfo(COLOR 20 1, SHADE COLOR, # a comment); s :: Source -> Paint(7, SHADE) -> k :: Sink",
        );
        t.push("s", 0, [clickwork_packet::Packet::new(b"")]);
        assert_eq!(t.take("k")[0].anno_u8(20), 7);
    }

    #[test]
    fn bad_entries_are_told() {
        let e = Harness::errors("AnnotationInfo(PAINT 3, a 47 2, b, c PAINT 2)");
        for what in ["bad NAME 'PAINT'", "bad entry for 'a'", "bad entry for 'b'", "bad entry for 'c'"] {
            assert!(e.contains(what), "{e}");
        }
    }

    #[test]
    fn overlaps_are_found() {
        let e = Harness::errors("AnnotationInfo(a 4 4, b 7, c 8 1, CHECK_OVERLAP a b c PAINT x)");
        assert!(e.contains("annotations 'a' and 'b' conflict") && e.contains("bad ANNO 'x'"), "{e}");
        assert!(!e.contains("'c'"), "{e}");
    }
}
