//! SourceIPHashMapper: makes mappings by a pattern that depends on the source address.

use super::mapper::{Manner, Mapper, MapperHandle, Target};
use super::server_hash::ServerHash;
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, Names, split_words};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes mappings for rewriters by source address",
    manual: "A rewriter that names this element in an input specification has its mappings made here, by one of the \
             patterns, always the same for a source address. When a pattern is added or goes, most addresses stay with \
             theirs (consistent hashing: each has NNODES points on a line, an address belongs to the next). Each pattern, \
             those of IPRewriter with outputs, is followed by a number that tells servers apart; patterns should be in the \
             order of their numbers. As in Click, each choice is printed, unless VERBOSE is false.",
    example: "m :: SourceIPHashMapper(100 7, - - 10.0.0.1 - 0 1 0, - - 10.0.0.2 - 0 1 1, VERBOSE false); \
              Idle => [0-1] rw :: IPRewriter(m, drop) => Discard, Discard",
    ports: "0/0",
    args: &[
        ArgSpec::keyword("VERBOSE", ArgType::Bool, "true", "whether choices are printed"),
        ArgSpec::rest(
            "PATTERN",
            ArgType::Other("NNODES SEED, then PATTERN FOUTPUT ROUTPUT SERVER"),
            "points for each server and seed of the hash, then patterns",
        ),
    ],
    phase: phase::DEFAULT - 1,
    ..Class::new("SourceIPHashMapper", "rewriter", || Box::new(SourceIPHashMapper))
};

/// Points of all servers together, with those of numbers that are not used, at most.
const MOST_POINTS: usize = 1 << 22;

struct SourceIPHashMapper;

/// `NNODES SEED`.
fn hash_arguments(text: &str) -> Result<(usize, u32), String> {
    let number = |text: &str| i32::from_arg(text, &Names::default()).ok();
    let words = split_words(text);
    let [nodes, seed] = &words[..] else { return Err("requires 2 config params: numnodes seed".to_string()) };
    let nodes = number(nodes).filter(|&n| n > 0).ok_or("number of nodes must be an integer")?;
    let seed = number(seed).ok_or("hash seed must be an integer")?;
    Ok((nodes as usize, seed as u32))
}

/// `PATTERN FOUTPUT ROUTPUT SERVER`.
fn server(text: &str, cx: &Cx<'_>) -> Result<(Target, u16), String> {
    let words = split_words(text);
    let number = words.last().filter(|_| words.len() > 1);
    let number = number.and_then(|text| u16::from_arg(text, &Names::default()).ok());
    let number = number.ok_or("bad server ID in pattern spec")?;
    Ok((Target::parse(&words[..words.len() - 1], cx)?, number))
}

impl Element for SourceIPHashMapper {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let mut verbose = true;
        args.read("VERBOSE", &mut verbose);
        match args.rest().len() {
            0 => return args.error("no hash seed given"),
            1 => return args.error("no patterns given"),
            2 => args.warn("only one pattern given"),
            _ => {}
        }
        let (nodes, seed) = match hash_arguments(&args.rest()[0]) {
            Ok(arguments) => arguments,
            Err(wrong) => return args.error_in_rest(0, wrong),
        };
        let (mut targets, mut numbers) = (Vec::new(), Vec::new());
        for index in 1..args.rest().len() {
            match server(&args.rest()[index], cx) {
                Ok((target, number)) => {
                    targets.push(target);
                    numbers.push(number);
                }
                Err(wrong) => args.error_in_rest(index, wrong),
            }
        }
        let lines = numbers.iter().max().map_or(0, |&most| usize::from(most) + 1);
        if nodes.saturating_mul(lines) > MOST_POINTS {
            return args.error(format!("too many nodes: at most {MOST_POINTS} for all servers"));
        }
        let manner = Manner::SourceHash(ServerHash::new(&numbers, nodes, seed), verbose);
        let declaration = format!("{} :: {}", cx.name(), CLASS.name);
        cx.export(Arc::new(MapperHandle::new(Mapper { targets, manner, declaration })));
    }
}
