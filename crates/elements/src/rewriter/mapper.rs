//! Mappers: elements that make mappings for rewriters which name them in an input specification.

use super::flow_id::FlowId;
use super::input::{Outputs, parse_with_outputs};
use super::pattern::Pattern;
use super::server_hash::ServerHash;
use clickwork_packet::addr::Ipv4Address;
use clickwork_router::Cx;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A pattern of a mapper, with its outputs.
pub struct Target {
    /// The pattern.
    pub pattern: Arc<Pattern>,
    outputs: (i32, i32),
}

impl Target {
    /// Reads a pattern with its outputs.
    ///
    /// # Errors
    /// What is wrong with it, in Click's words.
    pub fn parse(words: &[String], cx: &Cx<'_>) -> Result<Target, String> {
        let (pattern, outputs) = parse_with_outputs(words, cx)?;
        Ok(Target { pattern, outputs })
    }

    /// The outputs, if a rewriter with so many has them.
    fn outputs(&self, count: usize) -> Option<Outputs> {
        let there = |n: i32| u16::try_from(n).ok().filter(|&n| usize::from(n) < count);
        Some(Outputs { forward: there(self.outputs.0)?, reply: there(self.outputs.1)? })
    }
}

/// How a mapper goes through its patterns.
pub enum Manner {
    /// Each in turn; this one is next.
    RoundRobin(usize),
    /// By the source address. Each choice is printed if so wished.
    SourceHash(ServerHash, bool),
}

/// A mapper.
pub struct Mapper {
    /// Its patterns.
    pub targets: Vec<Target>,
    /// How it goes through them.
    pub manner: Manner,
    /// Name and class, for messages.
    pub declaration: String,
}

/// What mappers export.
pub struct MapperHandle(Mutex<Mapper>);

impl MapperHandle {
    /// A mapper to be exported.
    pub fn new(mapper: Mapper) -> MapperHandle {
        MapperHandle(Mutex::new(mapper))
    }

    /// The mapper.
    pub fn lock(&self) -> MutexGuard<'_, Mapper> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mapper {
    /// Whether all patterns send packets to outputs that a rewriter with so many outputs has.
    ///
    /// # Errors
    /// Which do not.
    pub fn check(&self, outputs: usize) -> Result<(), Vec<String>> {
        let wrong: Vec<String> = (self.targets.iter().enumerate())
            .filter(|(_, target)| target.outputs(outputs).is_none())
            .map(|(i, _)| format!("output port out of range in {} pattern {i}", self.declaration))
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Makes a mapping for a flow: `choose` applies a pattern.
    pub fn map(
        &mut self,
        id: FlowId,
        outputs: usize,
        cx: &mut Cx<'_>,
        mut choose: impl FnMut(&Arc<Pattern>, &mut Cx<'_>) -> Option<FlowId>,
    ) -> Option<(FlowId, Outputs)> {
        match &mut self.manner {
            Manner::RoundRobin(next) => (0..self.targets.len()).find_map(|_| {
                let target = &self.targets[*next];
                *next = (*next + 1) % self.targets.len();
                Some((choose(&target.pattern, cx)?, target.outputs(outputs)?))
            }),
            Manner::SourceHash(hash, verbose) => {
                let (key, server) = hash.choose(Ipv4Address::from_bits(id.source));
                if *verbose {
                    cx.chatter(&format!("{key:#x} -> {server}"));
                }
                let target = self.targets.get(server)?;
                Some((choose(&target.pattern, cx)?, target.outputs(outputs)?))
            }
        }
    }
}
