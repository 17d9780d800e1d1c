//! Who calls whom, and an order in which callees come before their callers.
//!
//! Methods that call each other in a circle form one *component* (Tarjan's algorithm, with a stack of its own so that a
//! long chain of calls needs no deep recursion). Dispatches that several definitions can answer are no edges: nothing
//! that uses the order looks through them.

use super::callee;
use super::reach::{Reach, site};
use crate::program::tree::ExprKind;
use crate::program::{MethodId, Program};

/// The direct calls among the methods that can run.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// For each method, what it calls, once for each call, in the order of evaluation.
    calls: Vec<Vec<MethodId>>,
    /// Callees before callers, except in circles.
    order: Vec<MethodId>,
    /// For each method in `order`, the number of its component.
    component: Vec<u32>,
    /// For each component, whether it has a circle.
    circular: Vec<bool>,
}

impl CallGraph {
    /// The graph of the methods that `reach` found.
    pub fn new(program: &Program, reach: &Reach) -> CallGraph {
        let mut calls = vec![Vec::new(); program.methods.len()];
        for method in reach.methods() {
            calls[method.0 as usize] = direct_calls(program, method);
        }
        let graph = CallGraph { component: vec![UNSEEN; calls.len()], calls, ..CallGraph::default() };
        Tarjan { low: vec![UNSEEN; graph.calls.len()], graph, stack: Vec::new(), next: 0 }.run(reach)
    }

    /// All methods that can run, callees before callers.
    pub fn order(&self) -> &[MethodId] {
        &self.order
    }

    /// What a method calls directly, once for each call.
    pub fn calls(&self, method: MethodId) -> &[MethodId] {
        &self.calls[method.0 as usize]
    }

    /// Whether both are in one circle of calls (or are one method).
    pub fn same_component(&self, a: MethodId, b: MethodId) -> bool {
        self.component[a.0 as usize] == self.component[b.0 as usize]
    }

    /// Whether the method can call itself, directly or through others.
    pub fn is_recursive(&self, method: MethodId) -> bool {
        let component = self.component[method.0 as usize];
        component != UNSEEN && self.circular[component as usize]
    }

    /// For each method, how many calls of it there are.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.calls.len()];
        for callee in self.calls.iter().flatten() {
            counts[callee.0 as usize] += 1;
        }
        counts
    }
}

fn direct_calls(program: &Program, method: MethodId) -> Vec<MethodId> {
    let mut found = Vec::new();
    program[method].body.root.walk(&mut |expr| {
        let dispatched = matches!(&expr.kind, ExprKind::Call(call) if site(program, call).is_some());
        if !dispatched {
            found.extend(callee(program, expr));
        }
    });
    found
}

const UNSEEN: u32 = u32::MAX;

struct Tarjan {
    graph: CallGraph,
    /// For methods that were met: the lowest number in reach, until their component is known.
    low: Vec<u32>,
    /// Methods whose component is not known yet.
    stack: Vec<MethodId>,
    next: u32,
}

/// A method being searched: its number in the order of discovery, and how many of its calls were followed.
struct Open {
    method: MethodId,
    number: u32,
    followed: usize,
}

impl Tarjan {
    fn run(mut self, reach: &Reach) -> CallGraph {
        for root in reach.methods() {
            if self.low[root.0 as usize] == UNSEEN {
                self.search(root);
            }
        }
        self.graph
    }

    fn search(&mut self, root: MethodId) {
        let mut open = vec![self.open(root)];
        while let Some(top) = open.last_mut() {
            let method = top.method;
            if let Some(&callee) = self.graph.calls[method.0 as usize].get(top.followed) {
                top.followed += 1;
                if self.low[callee.0 as usize] == UNSEEN {
                    open.push(self.open(callee));
                } else if self.graph.component[callee.0 as usize] == UNSEEN {
                    self.lower(method, self.low[callee.0 as usize]);
                }
                continue;
            }
            let number = top.number;
            open.pop();
            if let Some(caller) = open.last() {
                self.lower(caller.method, self.low[method.0 as usize]);
            }
            if self.low[method.0 as usize] == number {
                self.close(method);
            }
        }
    }

    fn open(&mut self, method: MethodId) -> Open {
        let number = self.next;
        self.next += 1;
        self.low[method.0 as usize] = number;
        self.stack.push(method);
        Open { method, number, followed: 0 }
    }

    fn lower(&mut self, method: MethodId, to: u32) {
        let low = &mut self.low[method.0 as usize];
        *low = (*low).min(to);
    }

    /// The methods above `first` on the stack are its component.
    fn close(&mut self, first: MethodId) {
        let component = self.graph.circular.len() as u32;
        let start = self.stack.iter().rposition(|&m| m == first).unwrap_or(0);
        let members = self.stack.split_off(start);
        let circular = members.len() > 1 || self.graph.calls(first).contains(&first);
        self.graph.circular.push(circular);
        for member in members {
            self.graph.component[member.0 as usize] = component;
            self.graph.order.push(member);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::testing::{self, Builder};
    use crate::program::Type;

    #[test]
    fn callees_come_first_and_circles_are_known() {
        let mut b = Builder::default();
        let m = b.module("M", None);
        let leaf = b.method(m, "leaf", Type::Void, testing::truth());
        let odd = MethodId(leaf.0 + 2);
        let even = b.method(m, "even", Type::Void, testing::call(odd));
        let both = testing::sequence(vec![testing::call(even), testing::call(leaf)]);
        let odd = b.method(m, "odd", Type::Void, both);
        let main = b.method(m, "main", Type::Void, testing::call(even));
        b.program.exports.push(main);
        let graph = CallGraph::new(&b.program, &Reach::new(&b.program));
        let at = |m| graph.order().iter().position(|&o| o == m).unwrap();
        assert!(at(leaf) < at(odd) && at(odd) < at(main) && at(even) < at(main));
        assert!(graph.same_component(odd, even) && !graph.same_component(odd, leaf));
        assert!(graph.is_recursive(odd) && !graph.is_recursive(leaf) && !graph.is_recursive(main));
        assert_eq!(graph.counts()[leaf.0 as usize], 1);
        assert_eq!(graph.counts()[even.0 as usize], 2);
    }

    #[test]
    fn a_long_chain_needs_no_deep_recursion() {
        let mut b = Builder::default();
        let m = b.module("M", None);
        let first = b.next_method();
        for i in 1..100_000 {
            b.function(m, "link", &[], Type::Void, testing::call(MethodId(first.0 + i)));
        }
        b.function(m, "last", &[], Type::Void, testing::truth());
        b.program.exports.push(first);
        let graph = CallGraph::new(&b.program, &Reach::new(&b.program));
        assert_eq!(graph.order().len(), 100_000);
        assert_eq!(graph.order().last(), Some(&first));
    }
}
