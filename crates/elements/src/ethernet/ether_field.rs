//! Where GetEtherAddress and StoreEtherAddress find an address in a packet.

use clickwork_router::args::{Args, FromArg, Word};

/// Bytes of an address.
pub const ADDRESS: usize = 6;

/// Reads argument OFFSET: `src`, `dst`, or a number of bytes.
pub fn offset_arg(args: &mut Args) -> usize {
    let Some(Word(text)) = args.get("OFFSET") else { return 0 };
    match text.to_ascii_lowercase().as_str() {
        "src" => 6,
        "dst" => 0,
        _ => match u32::from_arg(&text, args.names()) {
            Ok(offset) => offset as usize,
            Err(_) => {
                args.error("type mismatch: bad OFFSET");
                0
            }
        },
    }
}
