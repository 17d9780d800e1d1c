//! Reading scripts. Errors name the line.

use super::script::*;
use super::symbols;

type Result<T> = std::result::Result<T, String>;

pub fn parse(text: &str) -> Result<Script> {
    let mut script = Script::default();
    let mut comment = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("//") {
            directive(&mut script, rest.trim());
            continue;
        }
        comment |= line.starts_with("/*");
        let ends = line.ends_with("*/");
        let skip = comment || line.is_empty() || line.starts_with('#');
        comment &= !ends;
        if skip {
            continue;
        }
        let line_number = number + 1;
        let event = event(line, line_number).map_err(|error| format!("line {line_number}: {error}"))?;
        script.events.push(event);
    }
    Ok(script)
}

fn directive(script: &mut Script, line: &str) {
    if let Some(why) = line.strip_prefix("Deviates:") {
        script.deviates = Some(why.trim().to_owned());
    } else if let Some(modes) = line.strip_prefix("Only:") {
        script.only = Some(modes.split_whitespace().map(str::to_owned).collect());
    } else if let Some(flags) = line.strip_prefix("Flags:") {
        script.flags = flags.split_whitespace().map(str::to_owned).collect();
    }
}

/// A cursor over a line.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(format!("{token:?} expected before {:?}", self.rest)) }
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        self.skip();
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        token
    }

    fn number<T: TryFrom<u64>>(&mut self) -> Result<T> {
        let token = self.run(|c| c.is_ascii_digit());
        let number: u64 = token.parse().map_err(|_| format!("a number expected before {:?}", self.rest))?;
        T::try_from(number).map_err(|_| format!("{number} is too large"))
    }
}

fn event(line: &str, number: usize) -> Result<Event> {
    let line = line.split(" //").next().unwrap_or(line);
    let mut cursor = Cursor { rest: line };
    let time = time(&mut cursor)?;
    cursor.skip();
    let action = match cursor.rest.chars().next() {
        Some('<') => Action::In(packet(&mut cursor)?),
        Some('>') => Action::Out(packet(&mut cursor)?),
        Some('`') => command(&mut cursor)?,
        _ => Action::Call(call(&mut cursor)?),
    };
    cursor.skip();
    if !cursor.rest.is_empty() {
        return Err(format!("left over: {:?}", cursor.rest));
    }
    Ok(Event { line: number, time, action })
}

fn time(cursor: &mut Cursor<'_>) -> Result<Time> {
    if cursor.take("*") {
        return Ok(Time { relative: true, any: true, from: 0, to: 0, until: None });
    }
    let relative = cursor.take("+");
    let from = seconds(cursor)?;
    let mut time = Time { relative, any: false, from, to: from, until: None };
    if cursor.take("~") {
        cursor.take("+");
        time.to = seconds(cursor)?;
    } else if cursor.take("...") {
        time.until = Some(seconds(cursor)?);
    }
    Ok(time)
}

fn seconds(cursor: &mut Cursor<'_>) -> Result<i64> {
    cursor.skip();
    let end = cursor.rest.find("...").unwrap_or(cursor.rest.len());
    let mut here = Cursor { rest: &cursor.rest[..end] };
    let token = here.run(|c| c.is_ascii_digit() || c == '.');
    cursor.rest = &cursor.rest[token.len()..];
    let seconds: f64 = token.parse().map_err(|_| format!("a time expected before {:?}", cursor.rest))?;
    Ok((seconds * 1e6).round() as i64)
}

fn command(cursor: &mut Cursor<'_>) -> Result<Action> {
    cursor.expect("`")?;
    let (text, rest) = cursor.rest.split_once('`').ok_or("no end of the command")?;
    cursor.rest = rest;
    let setting = text.trim().strip_prefix("sysctl -q net.").ok_or("only sysctl -q net. is known")?;
    let (name, value) = setting.split_once('=').ok_or("sysctl without a value")?;
    Ok(Action::Sysctl(name.trim().replace('.', "/"), value.trim().trim_matches('"').to_owned()))
}

fn packet(cursor: &mut Cursor<'_>) -> Result<PacketSpec> {
    let _direction = cursor.take("<") || cursor.take(">");
    let mut packet = PacketSpec { options: Some(Vec::new()), connection: 1, ..PacketSpec::default() };
    if cursor.take("@") {
        packet.connection = cursor.number()?;
    }
    for (name, ecn) in [("[noecn]", 0), ("[ect1]", 1), ("[ect0]", 2), ("[ce]", 3)] {
        if cursor.take(name) {
            packet.ecn = Some(ecn);
        }
    }
    if cursor.take("[") {
        sequence(cursor, &mut packet)?;
        cursor.expect("]")?;
        packet.icmp = Some(icmp(cursor)?);
        return Ok(packet);
    }
    for letter in cursor.run(|c| FLAGS.iter().any(|(f, _)| *f == c) || c == '-').chars() {
        packet.flags |= FLAGS.iter().find(|(f, _)| *f == letter).map_or(0, |(_, bit)| *bit);
    }
    sequence(cursor, &mut packet)?;
    if cursor.take("ack") {
        packet.ack = cursor.number()?;
    }
    if cursor.take("win") {
        packet.window = Some(cursor.number()?);
    }
    if cursor.take("urg") {
        packet.urgent = cursor.number()?;
    }
    if cursor.take("<...>") {
        packet.options = None;
    } else if cursor.take("<") {
        packet.options = Some(options(cursor)?);
    }
    Ok(packet)
}

fn sequence(cursor: &mut Cursor<'_>, packet: &mut PacketSpec) -> Result<()> {
    packet.seq = cursor.number()?;
    cursor.expect(":")?;
    let end: u32 = cursor.number()?;
    cursor.expect("(")?;
    packet.length = cursor.number()?;
    cursor.expect(")")?;
    if end.wrapping_sub(packet.seq) != packet.length {
        return Err(format!("{}:{end} are not {} bytes", packet.seq, packet.length));
    }
    Ok(())
}

fn icmp(cursor: &mut Cursor<'_>) -> Result<Icmp> {
    cursor.expect("icmp")?;
    let known = ["unreachable", "packet_too_big"];
    if !known.iter().any(|name| cursor.take(name)) {
        return Err("icmp: unreachable or packet_too_big".into());
    }
    let mut code = cursor.run(|c| c.is_ascii_lowercase() || c == '_').to_owned();
    let mtu = if code == "mtu" || cursor.take("mtu") { cursor.number()? } else { 0 };
    if code.is_empty() || code == "mtu" {
        code = "packet_too_big".into();
    }
    Ok(Icmp { code, mtu })
}

fn options(cursor: &mut Cursor<'_>) -> Result<Vec<TcpOption>> {
    let mut options = Vec::new();
    loop {
        options.push(option(cursor)?);
        if cursor.take(">") {
            return Ok(options);
        }
        cursor.expect(",")?;
    }
}

fn option(cursor: &mut Cursor<'_>) -> Result<TcpOption> {
    Ok(match cursor.run(char::is_alphanumeric) {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::End,
        "mss" => TcpOption::Mss(cursor.number()?),
        "wscale" => TcpOption::WindowScale(cursor.number()?),
        "sackOK" => TcpOption::SackOk,
        "sack" => TcpOption::Sack(blocks(cursor)?),
        "TS" => {
            cursor.expect("val")?;
            let value = cursor.number()?;
            cursor.expect("ecr")?;
            TcpOption::Timestamp { value, echo: cursor.number()? }
        }
        "FO" => {
            let digits = cursor.run(|c| c.is_ascii_hexdigit());
            let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|e| e.to_string());
            TcpOption::FastOpen((0..digits.len() / 2).map(|at| byte(2 * at)).collect::<Result<_>>()?)
        }
        other => return Err(format!("no option {other:?}")),
    })
}

fn blocks(cursor: &mut Cursor<'_>) -> Result<Vec<(u32, u32)>> {
    let mut blocks = Vec::new();
    cursor.skip();
    while cursor.rest.starts_with(|c: char| c.is_ascii_digit()) {
        let left = cursor.number()?;
        cursor.expect(":")?;
        blocks.push((left, cursor.number()?));
        cursor.skip();
    }
    Ok(blocks)
}

fn call(cursor: &mut Cursor<'_>) -> Result<CallSpec> {
    let name = cursor.run(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
    cursor.expect("(")?;
    let arguments = list(cursor, ")")?;
    cursor.expect("=")?;
    let negative = cursor.take("-");
    let number: i64 = cursor.number()?;
    let errno = cursor.run(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let errno = (!errno.is_empty()).then(|| errno.to_owned());
    if cursor.take("(") {
        cursor.rest = cursor.rest.split_once(')').map_or("", |(_, rest)| rest);
    }
    Ok(CallSpec { name, arguments, result: if negative { -number } else { number }, errno })
}

fn list(cursor: &mut Cursor<'_>, end: &str) -> Result<Vec<Argument>> {
    let mut items = Vec::new();
    while !cursor.take(end) {
        if !items.is_empty() {
            cursor.expect(",")?;
        }
        items.push(argument(cursor)?);
    }
    Ok(items)
}

fn argument(cursor: &mut Cursor<'_>) -> Result<Argument> {
    if cursor.take("...") {
        return Ok(Argument::Dots);
    }
    if cursor.take("[") {
        return Ok(Argument::List(list(cursor, "]")?));
    }
    if cursor.take("\"") {
        let (text, rest) = cursor.rest.split_once('"').ok_or("no end of the string")?;
        cursor.rest = rest;
        return Ok(Argument::Text(text.to_owned()));
    }
    if cursor.take("{") {
        return structure(cursor);
    }
    let mut value = 0;
    loop {
        value |= term(cursor)?;
        if !cursor.take("|") {
            return Ok(Argument::Number(value));
        }
    }
}

fn structure(cursor: &mut Cursor<'_>) -> Result<Argument> {
    let mut fields = Vec::new();
    while !cursor.take("}") {
        if !fields.is_empty() {
            cursor.expect(",")?;
        }
        let before = cursor.rest;
        let name = cursor.run(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
        if !name.is_empty() && cursor.take("=") {
            fields.push((name, argument(cursor)?));
        } else {
            cursor.rest = before;
            fields.push((String::new(), argument(cursor)?));
        }
    }
    Ok(Argument::Struct(fields))
}

fn term(cursor: &mut Cursor<'_>) -> Result<i64> {
    let negative = cursor.take("-");
    let token = cursor.run(|c| c.is_ascii_alphanumeric() || c == '_');
    let value = match token.parse::<i64>() {
        Ok(number) => number,
        Err(_) => symbols::value(token).ok_or_else(|| format!("no symbol {token:?}"))?,
    };
    Ok(if negative { -value } else { value })
}
