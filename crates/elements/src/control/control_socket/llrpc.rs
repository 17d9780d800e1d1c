//! The command LLRPC: a function of an element, called by number.

use super::execute::{Rights, denied, find};
use super::protocol::{Code, Reply};
use clickwork_router::llrpc::{LlrpcError, Number};
use clickwork_router::{Router, Value};

/// Calls `ELEMENT#NUMBER`, the number in hexadecimal.
pub fn call(router: &mut Router, rights: Rights, name: &str, data: &[u8]) -> Reply {
    let (element, number) = name.split_once('#').unwrap_or((name, ""));
    let digits = number.strip_prefix("0x").unwrap_or(number);
    let Ok(number) = u32::from_str_radix(digits, 16).map(Number) else {
        return Reply::line(Code::Syntax, &format!("Syntax error in LLRPC name '{name}'"));
    };
    let target = match find(router, rights, &format!("{element}.name")) {
        Ok((target, _)) => target,
        Err(reply) => return reply,
    };
    if !number.is_remote() {
        return Reply::line(Code::Unimplemented, &format!("Cannot call LLRPC '{name}' remotely"));
    } else if rights.read_only {
        // The number does not tell for certain whether the call changes anything.
        return denied(name);
    } else if number.takes_data() && data.len() != number.size() {
        let wanted = format!("LLRPC '{name}' requires {} bytes input data", number.size());
        return Reply::line(Code::LlrpcError, &wanted);
    }
    let mut data = if number.takes_data() { data.to_vec() } else { vec![0; number.size()] };
    // Elements that stand for others do so for handlers only.
    let own = target.element.filter(|_| rights.proxy.is_none());
    match own.map_or(Err(LlrpcError::Invalid), |id| router.llrpc(id, number, &mut data)) {
        Ok(()) => {
            let given = if number.gives_data() { data } else { Vec::new() };
            Reply::line(Code::Ok, &format!("LLRPC '{name}' OK")).with_data(Value(given).into())
        }
        Err(e) => Reply::line(Code::LlrpcError, &format!("LLRPC '{name}' error: {e}")),
    }
}
