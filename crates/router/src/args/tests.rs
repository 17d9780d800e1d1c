//! How arguments are matched with the table, and what is said when they do not match.

use super::*;
use proptest::prelude::*;

const PRINT: &[ArgSpec] = &[
    ArgSpec::positional("LABEL", ArgType::String, "", "text before each packet"),
    ArgSpec::positional("MAXLENGTH", ArgType::I32, "24", "bytes printed").aliases(&["LENGTH"]),
    ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is printed"),
];

const ENCAP: &[ArgSpec] = &[
    ArgSpec::required("ETHERTYPE", ArgType::U16, "the protocol"),
    ArgSpec::required("SRC", ArgType::Word, "the source"),
    ArgSpec::required_keyword("MODE", ArgType::Choice(&["a", "b"]), "how"),
];

const SCRIPT: &[ArgSpec] = &[
    ArgSpec::keyword("TYPE", ArgType::Choice(&["ACTIVE", "PASSIVE"]), "ACTIVE", "when to run"),
    ArgSpec::rest("INSTRUCTION", ArgType::Text, "what to do"),
];

fn args(specs: &'static [ArgSpec], config: &str) -> Args {
    Args::new(specs, config, &Names::default())
}

/// The errors as `message [text at fault]`.
fn errors(specs: &'static [ArgSpec], config: &str) -> Vec<String> {
    let errors = args(specs, config).finish().map_or_else(|errors| errors.0, |()| Vec::new());
    let show = |error: &ArgError| match &error.range {
        Some(range) => format!("{error} [{}]", &config[range.clone()]),
        None => error.to_string(),
    };
    errors.iter().map(show).collect()
}

/// LABEL, MAXLENGTH and ACTIVE as written.
fn print_values(config: &str) -> [Option<String>; 3] {
    let args = args(PRINT, config);
    ["LABEL", "MAXLENGTH", "ACTIVE"].map(|name| args.raw(name).map(str::to_owned))
}

#[test]
fn positions_and_keywords_mix() {
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(print_values(""), [None, None, None]);
    assert_eq!(print_values("x, 5"), [some("x"), some("5"), None]);
    assert_eq!(print_values("MAXLENGTH 5"), [None, some("5"), None]);
    assert_eq!(print_values("ACTIVE  no, LABEL \"a b\""), [some("\"a b\""), None, some("no")]);
    assert_eq!(print_values("x, ACTIVE no, MAXLENGTH 5"), [some("x"), some("5"), some("no")]);
    assert_eq!(print_values("\"ACTIVE no\""), [some("\"ACTIVE no\""), None, None]);
    assert_eq!(print_values("ACTIVE /* off */ no"), [None, None, some("no")]);
}

#[test]
fn empty_arguments_hold_their_places() {
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(print_values(",5"), [None, some("5"), None]);
    assert_eq!(print_values(", , ACTIVE no"), [None, None, some("no")]);
    assert_eq!(print_values("LABEL a,"), [some("a"), None, None]);
    assert_eq!(print_values("/* none */, 5"), [None, some("5"), None]);
    assert_eq!(print_values("\"\""), [some("\"\""), None, None]);
    assert_eq!(errors(PRINT, ",,"), [""; 0]);
    assert_eq!(errors(PRINT, ",,,,"), ["too many arguments []"]);
    assert_eq!(errors(ENCAP, ", x, MODE a"), ["ETHERTYPE: required argument missing"]);
    const COLOR: &[ArgSpec] = &[ArgSpec::required("COLOR", ArgType::U8, "the colour").or("0")];
    assert_eq!(
        (errors(COLOR, ","), errors(COLOR, "")),
        (vec![], vec!["COLOR: required argument missing".to_owned()])
    );
}

#[test]
fn positions_end_at_the_first_keyword() {
    assert_eq!(errors(PRINT, "MAXLENGTH 5, x"), ["too many arguments [x]"]);
    assert_eq!(errors(PRINT, "x, 5, 6, 7"), ["too many arguments [6]"]);
    assert_eq!(errors(&[], "x"), ["too many arguments [x]"]);
}

#[test]
fn keywords_that_the_table_names_first_may_stand_before_positions() {
    const QUERIER: &[ArgSpec] = &[
        ArgSpec::keyword("TABLE", ArgType::Word, "", "where entries are"),
        ArgSpec::required("IP", ArgType::Word, "own address"),
        ArgSpec::positional("ETH", ArgType::Word, "", "own Ethernet address"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether it acts"),
    ];
    for config in ["TABLE t, a, b", "a, TABLE t, b", "a, b, TABLE t", "IP a, TABLE t, ETH b"] {
        let args = args(QUERIER, config);
        assert_eq!(
            ["TABLE", "IP", "ETH"].map(|name| args.raw(name)),
            [Some("t"), Some("a"), Some("b")],
            "{config}"
        );
    }
    assert_eq!(errors(QUERIER, "a, ACTIVE no, b"), ["too many arguments [b]"]);
}

#[test]
fn unknown_keywords_get_advice() {
    assert_eq!(errors(PRINT, "x, NOSUCHKEY 4"), ["NOSUCHKEY: unknown argument [NOSUCHKEY]"]);
    let hint = |config| args(PRINT, config).finish().unwrap_err().0[0].hint.clone().unwrap();
    assert_eq!(hint("NOSUCHKEY 4"), "the keywords are LABEL, MAXLENGTH, ACTIVE");
    assert_eq!(hint("ACTVIE yes"), "did you mean 'ACTIVE'?");
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_table() {
    let config = "0x10000, FOO 1, a b";
    let mut args = args(ENCAP, config);
    assert_eq!(args.get::<u16>("ETHERTYPE"), None);
    assert_eq!(args.get::<Word>("SRC"), None);
    args.error("own trouble");
    let shown = args.finish().unwrap_err().to_string();
    let expected = [
        "ETHERTYPE: out of range, bound 65535",
        "SRC: parse error",
        "MODE: required argument missing",
        "own trouble",
        "a: unknown argument",
    ];
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    assert_eq!(args.finish(), Ok(()), "errors are reported once");
}

#[test]
fn a_mandatory_argument_takes_what_looks_like_a_keyword() {
    let mut args = args(ENCAP, "ETHERTYP 0x800, SRC x, MODE a");
    assert_eq!(args.raw("ETHERTYPE"), Some("ETHERTYP 0x800"));
    assert_eq!(args.get::<u16>("ETHERTYPE"), None);
    let error = &args.finish().unwrap_err().0[0];
    assert!(error.hint.as_deref().unwrap().ends_with("did you mean 'ETHERTYPE'?"), "{error:?}");
}

#[test]
fn a_keyword_in_the_place_of_a_mandatory_argument_is_named() {
    let mut args = args(ENCAP, "MODE a");
    assert_eq!(args.get::<u16>("ETHERTYPE"), None);
    let errors = args.finish().unwrap_err();
    let hint = errors.0[0].hint.as_deref();
    assert_eq!(hint, Some("'MODE' is a keyword; give ETHERTYPE before it, or as 'ETHERTYPE VALUE'"));
}

#[test]
fn missing_arguments_say_what_is_expected() {
    let error = &args(ENCAP, "1, x").finish().unwrap_err().0[0];
    assert_eq!(error.to_string(), "MODE: required argument missing");
    assert_eq!(error.hint.as_deref(), Some("expected one of a, b, such as a"));
}

#[test]
fn the_last_of_several_counts_with_a_warning() {
    let mut twice = args(PRINT, "LABEL a, LABEL b");
    assert_eq!(twice.get::<String>("LABEL").as_deref(), Some("b"));
    assert_eq!(twice.finish(), Ok(()));
    assert_eq!(twice.take_warnings()[0].to_string(), "LABEL: given more than once; the last value counts");
    let mut both = args(PRINT, "a, LABEL b");
    assert_eq!(both.get::<String>("LABEL").as_deref(), Some("b"));
    assert_eq!(both.take_warnings().len(), 1);
}

#[test]
fn older_keywords_work_with_a_warning() {
    let mut args = args(PRINT, "LENGTH 7");
    assert_eq!(args.get::<i32>("MAXLENGTH"), Some(7));
    assert_eq!(args.take_warnings()[0].to_string(), "LENGTH: argument deprecated");
    assert!(args.take_warnings().is_empty());
}

#[test]
fn the_rest_keeps_what_no_other_entry_takes() {
    let mut args = args(SCRIPT, "write x.y 5, TYPE PASSIVE, , \"print a, b\"");
    assert_eq!(args.rest(), ["write x.y 5", "", "\"print a, b\""]);
    assert_eq!(args.raw("TYPE"), Some("PASSIVE"));
    args.error_in_rest(2, "bad instruction");
    let error = &args.finish().unwrap_err().0[0];
    assert_eq!((error.to_string().as_str(), error.range.clone()), ("bad instruction", Some(29..41)));
}

#[test]
fn words_are_arguments_by_position() {
    const ROUTE: &[ArgSpec] = &[
        ArgSpec::required("PREFIX", ArgType::Word, "where to"),
        ArgSpec::required("PORT", ArgType::U8, "which output"),
    ];
    let mut args = Args::from_words(ROUTE, " 10/8  300 x", &Names::default());
    assert_eq!(args.get::<Word>("PREFIX"), Some(Word("10/8".to_owned())));
    assert_eq!(args.get::<u8>("PORT"), None);
    let errors = args.finish().unwrap_err().0;
    assert_eq!(errors[0].to_string(), "PORT: out of range, bound 255");
    assert_eq!((errors[0].range.clone(), errors[1].range.clone()), (Some(7..10), Some(11..12)));
}

#[test]
fn bad_values_name_the_argument_and_its_place() {
    let config = "x, MAXLENGTH  many";
    let mut args = args(PRINT, config);
    let mut length = 24;
    args.read("MAXLENGTH", &mut length);
    let error = &args.finish().unwrap_err().0[0];
    assert_eq!(length, 24);
    assert_eq!(error.to_string(), "MAXLENGTH: parse error");
    assert_eq!(&config[error.range.clone().unwrap()], "many");
    assert_eq!(error.hint.as_deref(), Some("expected integer, such as -1"));
}

#[test]
fn elements_add_errors_of_their_own() {
    let mut args = args(PRINT, "x, 5");
    args.error_in("MAXLENGTH", "must be odd");
    assert_eq!(args.get::<u32>("COLOUR"), None);
    let shown = args.finish().unwrap_err().to_string();
    assert_eq!(shown, "MAXLENGTH: must be odd\nCOLOUR: not an argument of this class");
}

proptest! {
    #[test]
    fn no_configuration_panics(text in any::<String>(), tricky in r#"[A-C ,"'\\<>/*é0-9]{0,40}"#) {
        for config in [&text, &tricky] {
            for specs in [PRINT, ENCAP, SCRIPT] {
                let mut args = args(specs, config);
                for spec in specs {
                    args.get::<u8>(spec.name);
                }
                for error in args.finish().err().into_iter().flat_map(|errors| errors.0) {
                    prop_assert!(error.range.is_none_or(|range| config.get(range).is_some()));
                }
            }
        }
    }
}

#[test]
fn problems_in_the_rest_have_their_place_and_remedy() {
    const SPECS: &[ArgSpec] = &[ArgSpec::rest("PATTERN", ArgType::Text, "patterns")];
    let config = "12/0800, x/0";
    let mut args = args(SPECS, config);
    args.report_in_rest(1, ArgError::new("expected a digit").at(Some(0..1)).hint("write one"));
    args.warn_in_rest(0, ArgError::new("never matches"));
    let error = &args.finish().unwrap_err().0[0];
    assert_eq!((&config[error.range.clone().unwrap()], error.hint.as_deref()), ("x", Some("write one")));
    assert_eq!(args.take_warnings()[0].range, Some(0..7));
}
