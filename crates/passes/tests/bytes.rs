//! Any bytes in a configuration come out of a tool as they went in.

use clickwork_lang::config::{split_args, unquote};
use clickwork_lang::{Options, archive::Archive, print};
use clickwork_passes::Facts;
use clickwork_passes::Unit;
use clickwork_passes::export::json;
use clickwork_router::Registry;
use clickwork_source::text;
use proptest::prelude::*;

fn read(bytes: Vec<u8>) -> Unit {
    let (unit, messages) = Unit::read("r.click", bytes, &Options::any_class());
    assert!(!messages.has_errors(), "{messages:?}");
    unit
}

/// The bytes that the only argument of the element `a` stands for.
fn argument(unit: &Unit) -> Vec<u8> {
    let graph = unit.graph();
    let a = graph.elements.iter().find(|e| e.name == "a").expect("it is there");
    unquote(&split_args(&a.config).concat())
}

/// Bytes among which those are frequent that look like parts of the characters that stand for bytes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let difficult = prop::sample::select(&[0xf4u8, 0x8f, 0x9e, 0x9f, 0xa9, 0xbf, 0xc3, b'a', b' ', b','][..]);
    prop::collection::vec(prop_oneof![any::<u8>(), difficult], 0..40)
}

proptest! {
    #[test]
    fn data_between_quotes_stay_the_same(mut bytes in bytes(), name in bytes()) {
        bytes.retain(|&b| b != b'\'' && b != 0);
        let name: Vec<u8> = name.into_iter().filter(|b| !b.is_ascii_control()).collect();
        let line = format!("# 7 {}\n", clickwork_lang::config::quote_bytes(&name));
        let config = [line.as_bytes(), b"a :: A('", &bytes, b"') -> b :: B;"].concat();
        let unit = read(config);
        prop_assert_eq!(argument(&unit), &*bytes);
        let written = unit.to_bytes();
        let part = [b"A('", &bytes[..], b"')"].concat();
        prop_assert!(written.windows(part.len()).any(|window| window == part));
        let again = read(written.clone());
        prop_assert_eq!(argument(&again), bytes);
        prop_assert_eq!(again.to_bytes(), written);
    }

    #[test]
    fn archives_and_json_keep_them(mut bytes in bytes()) {
        // JSON writes control characters in another way; those beyond ASCII begin with 0xC2.
        bytes.retain(|&b| b != b'\'' && b != 0xc2 && !b.is_ascii_control());
        let config = [b"a :: A('", &bytes[..], b"');"].concat();
        let packed = Archive::default().with_config(text::decode(config));
        let unit = read(packed);
        prop_assert_eq!(argument(&unit), &*bytes);
        let form = json::write("r", &unit, &Facts::new(&Registry::new(), &unit.files));
        let escaped = text::encode(&form).into_owned();
        let shown: Vec<u8> = bytes.iter().flat_map(|&b| if b"\"\\".contains(&b) { vec![b'\\', b] } else { vec![b] }).collect();
        prop_assert!(shown.is_empty() || escaped.windows(shown.len()).any(|window| window == shown), "{}", form);
        prop_assert!(!print(&unit.graph()).is_empty());
    }
}
