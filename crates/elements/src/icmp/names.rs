//! ICMP types and codes as arguments: by Click's names or by number.

use clickwork_packet::headers::icmp::{code_named, type_named};
use clickwork_router::args::{Args, FromArg, Word};

/// What ICMPError and ForceICMP say of numbers that do not fit into the fields.
pub const TYPE_RANGE: &str = "ICMP type must be between 0 and 255";
/// The same for codes.
pub const CODE_RANGE: &str = "argument 2 takes ICMP code (integer between 0 and 255)";

/// The value of argument TYPE. `too_big` is said of numbers that do not fit into the field.
pub fn type_arg(args: &mut Args, too_big: &str) -> Option<u8> {
    let Word(text) = args.get("TYPE")?;
    if let Some(named) = type_named(&text) {
        return Some(named);
    }
    match i64::from_arg(&text, args.names()) {
        Ok(number) if (0..=255).contains(&number) => return Some(number as u8),
        Ok(_) => args.error(too_big),
        Err(_) => args.error_in("TYPE", "parse error"),
    }
    None
}

/// The value of argument CODE for messages of a type; 0 if there is none. `wrong` is said of what is no code.
pub fn code_arg(args: &mut Args, icmp_type: u8, wrong: &str) -> u8 {
    let Some(Word(text)) = args.get("CODE") else { return 0 };
    let code = code_named(icmp_type, &text).or_else(|| u8::from_arg(&text, args.names()).ok());
    code.unwrap_or_else(|| {
        args.error(wrong);
        0
    })
}
