//! Carrying out the commands of control connections.

use super::connections::MAX_VALUE;
use super::llrpc;
use super::protocol::{Code, Command, HELP, Reply};
use clickwork_router::{Access, ElementId, HandlerError, Router, Target};

/// What a control socket lets its clients do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rights {
    /// Handlers can only be read.
    pub read_only: bool,
    /// All handlers are those of this element.
    pub proxy: Option<ElementId>,
}

/// Carries out a command.
pub fn execute(router: &mut Router, rights: Rights, command: &Command) -> Reply {
    match command {
        Command::Read(handler, text) => read(router, rights, handler, text),
        Command::Write(handler, text) => write(router, rights, handler, text),
        Command::Check { handler, write } => check(router, rights, handler, *write),
        Command::Llrpc(function, data) => llrpc::call(router, rights, function, data),
        Command::Help => Reply::lines(Code::Ok, HELP.iter().copied()),
        Command::Quit(true) => Reply::line(Code::Ok, "Goodbye!"),
        Command::Quit(false) => {
            let mut reply = Reply::line(Code::Syntax, "Bad command syntax");
            reply.0.append(Reply::line(Code::Ok, "Goodbye!").0);
            reply
        }
        Command::Bad(code, text) | Command::Hopeless(code, text) => Reply::line(*code, text),
    }
}

/// The handler that a client means, if it may see it.
pub fn find(router: &Router, rights: Rights, name: &str) -> Result<(Target, Access), Reply> {
    // The router's own handlers may be written `0.name` or `.name`.
    let canonical = name.strip_prefix("0.").or_else(|| name.strip_prefix('.')).unwrap_or(name);
    let target = match (rights.proxy, canonical.split_once('.')) {
        (Some(proxy), _) => Target { element: Some(proxy), handler: canonical.to_string() },
        (None, None) => Target { element: None, handler: canonical.to_string() },
        (None, Some((element, handler))) => {
            let found = element_called(router, element);
            let missing = || Reply::line(Code::NoSuchElement, &format!("No element named '{element}'"));
            Target { element: Some(found.ok_or_else(missing)?), handler: handler.to_string() }
        }
    };
    match router.access(&target).filter(|a| a.write || (a.read && !a.private)) {
        Some(access) => Ok((target, access)),
        None => {
            let kind = if rights.proxy.is_some() { "proxied handler" } else { "handler" };
            Err(Reply::line(Code::NoSuchHandler, &format!("No {kind} named '{name}'")))
        }
    }
}

/// An element by name, or by number, counted from 1.
fn element_called(router: &Router, name: &str) -> Option<ElementId> {
    let by_number = || name.parse::<u32>().ok().filter(|&n| n > 0 && n as usize <= router.len());
    router.find(name).or_else(|| by_number().map(|n| ElementId(n - 1)))
}

/// The answer to who may only read.
pub fn denied(name: &str) -> Reply {
    Reply::line(Code::Permission, &format!("Permission denied for '{name}'"))
}

/// A reply that says what failed, and then why, if there is a reason.
fn failed(code: Code, what: &str, error: &HandlerError) -> Reply {
    match error.to_string() {
        reason if reason.is_empty() => Reply::line(code, what),
        reason => Reply::lines(code, [&*format!("{what}:"), reason.trim_end_matches('\n')]),
    }
}

fn read(router: &mut Router, rights: Rights, name: &str, text: &str) -> Reply {
    let (target, access) = match find(router, rights, name) {
        Ok(found) => found,
        Err(reply) => return reply,
    };
    if !access.read || access.private {
        return Reply::line(Code::Permission, &format!("Handler '{name}' write-only"));
    }
    let outcome = if access.parameter || text.is_empty() {
        router.read_pieces(&target, text, rights.read_only)
    } else {
        Err(HandlerError::WrongKind(format!("read handler '{name}' does not take parameters")))
    };
    match outcome {
        Ok(value) if value.len() > MAX_VALUE => {
            let reason = format!("the value has {} bytes, and at most {MAX_VALUE} can be sent", value.len());
            failed(Code::Unspecified, &format!("Read handler '{name}' error"), &HandlerError::Failed(reason))
        }
        Ok(value) => Reply::line(Code::Ok, &format!("Read handler '{name}' OK")).with_data(value),
        Err(e) => failed(Code::Unspecified, &format!("Read handler '{name}' error"), &e),
    }
}

fn write(router: &mut Router, rights: Rights, name: &str, text: &str) -> Reply {
    let (target, access) = match find(router, rights, name) {
        Ok(found) => found,
        Err(reply) => return reply,
    };
    if !access.write {
        return Reply::line(Code::Permission, &format!("Handler '{name}' read-only"));
    }
    if rights.read_only {
        return denied(name);
    }
    match router.write_target(&target, text) {
        Ok(_) => Reply::line(Code::Ok, &format!("Write handler '{name}' OK")),
        Err(e) => failed(Code::HandlerError, &format!("Write handler '{name}' error"), &e),
    }
}

fn check(router: &Router, rights: Rights, name: &str, write: bool) -> Reply {
    let access = match find(router, rights, name) {
        Ok((_, access)) => access,
        Err(reply) => return reply,
    };
    let (allowed, kind) =
        if write { (access.write, "Write") } else { (access.read && !access.private, "Read") };
    match allowed {
        true if write && rights.read_only => denied(name),
        true => Reply::line(Code::Ok, &format!("{kind} handler '{name}' OK")),
        false => {
            let able = if write { "writable" } else { "readable" };
            Reply::line(Code::NoSuchHandler, &format!("Handler '{name}' not {able}"))
        }
    }
}
