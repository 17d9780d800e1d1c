//! Expressions with a value: integers, bools, objects.

use super::Generator;
use super::model::{INTS, ModuleId, SEQINT, Ty};
use super::node::Node;
use super::scope::{Path, Scope};

/// What an expression is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Int,
    Bool,
    Void,
}

impl Want {
    /// What can stand for any expression of this kind.
    pub fn simple(self) -> &'static str {
        match self {
            Want::Int => "1",
            Want::Bool => "true",
            Want::Void => "(void)0",
        }
    }
}

impl Generator {
    pub fn expression(&mut self, s: &mut Scope, want: Want, depth: u32) -> Node {
        match want {
            Want::Int => self.int(s, depth),
            Want::Bool => self.bool(s, depth),
            Want::Void => self.void(s, depth),
        }
    }

    pub fn int(&mut self, s: &mut Scope, depth: u32) -> Node {
        s.fuel -= 1;
        if depth == 0 || s.fuel < 0 {
            return self.int_leaf(s);
        }
        let d = depth - 1;
        match self.random.weighted(&[12, 18, 5, 5, 5, 6, 8, 22, 20, 14, 3]) {
            0 => self.int_leaf(s),
            1 => {
                let op = *self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                let (a, b) = (self.int(s, d), self.int(s, d));
                Node::new("1", format!("($ {op} $)"), vec![a, b])
            }
            2 => {
                let op = *self.random.pick(&["<<", ">>"]);
                let (a, b) = (self.int(s, d), self.int(s, d));
                Node::new("1", format!("($ {op} $)"), vec![a, b])
            }
            3 => {
                let op = *self.random.pick(&["/", "%"]);
                let (a, b) = (self.int(s, d), self.int(s, d));
                Node::new("1", format!("($ {op} ($ | 1))"), vec![a, b])
            }
            4 => {
                let op = *self.random.pick(&["-", "~", "+"]);
                let a = self.int(s, d);
                Node::new("1", format!("({op}$)"), vec![a])
            }
            5 => {
                let op = *self.random.pick(&["min", "max"]);
                let (a, b) = (self.int(s, d), self.int(s, d));
                Node::new("1", format!("{op}($, $)"), vec![a, b])
            }
            6 => {
                let ty = *self.random.pick(&INTS);
                if self.random.percent(25) {
                    let a = self.bool(s, d);
                    return Node::new("1", format!("({ty})($)"), vec![a]);
                }
                let a = self.int(s, d);
                Node::new("1", format!("({ty})($)"), vec![a])
            }
            7 => self.call(s, Want::Int, d).unwrap_or_else(|| self.int_leaf(s)),
            8 => self.control(s, Want::Int, d),
            9 => self.change(s, d).unwrap_or_else(|| self.int_leaf(s)),
            _ => self.field_of_new_object(s, d).unwrap_or_else(|| self.int_leaf(s)),
        }
    }

    fn int_leaf(&mut self, s: &mut Scope) -> Node {
        let place = if self.random.percent(65) { self.int_place(s, None, false, 0) } else { None };
        place.unwrap_or_else(|| self.literal())
    }

    pub fn literal(&mut self) -> Node {
        const EDGES: [&str; 26] = [
            "255",
            "256",
            "127",
            "128",
            "32767",
            "65535",
            "65536",
            "0x7fffffff",
            "0x80000000",
            "4294967295",
            "(-1)",
            "(-128)",
            "'a'",
            "7Q",
            "0xffffffffQ",
            "5u",
            "3UL",
            "(-2147483647 - 1)",
            "9223372036854775807",
            "100000",
            "0x7fffffffffffffff",
            "1L",
            "'\\n'",
            "0xffffffffffffffff",
            "010",
            "2147483648Q",
        ];
        if self.random.percent(60) {
            return Node::text(self.random.below(10).to_string());
        }
        Node::new("1", *self.random.pick(&EDGES), vec![])
    }

    /// An assignment, an update or a step; its value is an integer.
    pub fn change(&mut self, s: &mut Scope, d: u32) -> Option<Node> {
        let place = self.int_place(s, None, true, d)?;
        Some(match self.random.weighted(&[30, 30, 8, 20]) {
            0 => {
                let value = self.int(s, d);
                Node::new("1", "($ = $)", vec![place, value])
            }
            1 => {
                let op =
                    *self.random.pick(&["+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "min=", "max="]);
                let value = self.int(s, d);
                Node::new("1", format!("($ {op} $)"), vec![place, value])
            }
            2 => {
                let op = *self.random.pick(&["/=", "%="]);
                let value = self.int(s, d);
                Node::new("1", format!("($ {op} ($ | 1))"), vec![place, value])
            }
            _ => {
                let form = *self.random.pick(&["($++)", "($--)", "(++$)", "(--$)"]);
                Node::new("1", form, vec![place])
            }
        })
    }

    fn field_of_new_object(&mut self, s: &mut Scope, d: u32) -> Option<Node> {
        let module = self.constructible(s)?;
        let fields: Vec<String> = self
            .model
            .ancestry(module)
            .flat_map(|m| &self.model.modules[m].fields)
            .filter(|f| !f.is_static && matches!(f.ty, Ty::Int(_)))
            .map(|f| f.name.clone())
            .collect();
        let field = self.random.pick_some(&fields)?.clone();
        let object = self.new_object(s, module, d)?;
        Some(Node::new("1", format!("$.{field}"), vec![object]))
    }

    pub fn bool(&mut self, s: &mut Scope, depth: u32) -> Node {
        s.fuel -= 1;
        if depth == 0 || s.fuel < 0 {
            return self.bool_leaf(s);
        }
        let d = depth - 1;
        match self.random.weighted(&[8, 26, 10, 10, 6, 6, 18, 12, 8, 8, 3, 2]) {
            0 => self.bool_leaf(s),
            1 => {
                let op = *self.random.pick(&["<", ">", "<=", ">=", "==", "!="]);
                let (a, b) = (self.int(s, d), self.int(s, d));
                Node::new("true", format!("($ {op} $)"), vec![a, b])
            }
            2 => {
                let op = *self.random.pick(&["&&", "||"]);
                let (a, b) = (self.condition(s, d), self.condition(s, d));
                Node::new("true", format!("($ {op} $)"), vec![a, b])
            }
            3 => self.seqint_comparison(s, d),
            4 => {
                let a = self.condition(s, d);
                Node::new("true", "(!$)", vec![a])
            }
            5 => {
                let (a, b) = (self.condition(s, d), self.void(s, d));
                Node::new("true", "($ ==> $)", vec![a, b])
            }
            6 => self.call(s, Want::Bool, d).unwrap_or_else(|| self.bool_leaf(s)),
            7 => self.control(s, Want::Bool, d),
            8 => self.catch(s, d),
            9 => self.bool_assignment(s, d).unwrap_or_else(|| self.bool_leaf(s)),
            10 => {
                let a = self.int(s, d);
                Node::new("true", "($ :> bool)", vec![a])
            }
            _ => {
                let (a, b) = (self.bool(s, d), self.bool(s, d));
                let op = *self.random.pick(&["==", "!="]);
                Node::new("true", format!("($ {op} $)"), vec![a, b])
            }
        }
    }

    fn bool_leaf(&mut self, s: &mut Scope) -> Node {
        let paths = self.paths(s);
        let bools: Vec<&Path> = paths.iter().filter(|p| p.ty == Ty::Bool).collect();
        if !bools.is_empty() && self.random.percent(70) {
            return Node::text(self.random.pick(&bools).text.clone());
        }
        if self.random.percent(60) {
            let (a, b) = (self.int_leaf(s), self.int_leaf(s));
            return Node::new("true", "($ < $)", vec![a, b]);
        }
        Node::text(*self.random.pick(&["true", "false"]))
    }

    fn bool_assignment(&mut self, s: &mut Scope, d: u32) -> Option<Node> {
        let paths = self.paths(s);
        let bools: Vec<&Path> = paths.iter().filter(|p| p.ty == Ty::Bool && p.writable).collect();
        let place = self.random.pick_some(&bools)?.text.clone();
        let value = self.bool(s, d);
        Some(Node::new("true", format!("({place} = $)"), vec![value]))
    }

    fn seqint_comparison(&mut self, s: &mut Scope, d: u32) -> Node {
        let op = *self.random.pick(&["<", ">", "<=", ">="]);
        let place = self.int_place(s, Some(SEQINT), false, 0);
        let a = place.unwrap_or_else(|| Node::text("0xfffffff0Q"));
        let b = self.int(s, d);
        Node::new("true", format!("($ {op} (seqint)($))"), vec![a, b])
    }

    /// Anything that decides: a bool, an integer, a comparison of pointers.
    pub fn condition(&mut self, s: &mut Scope, d: u32) -> Node {
        match self.random.weighted(&[75, 15, 10]) {
            0 => self.bool(s, d),
            1 => self.int(s, d),
            _ => self.pointer_comparison(s).unwrap_or_else(|| self.bool(s, d)),
        }
    }

    fn pointer_comparison(&mut self, s: &Scope) -> Option<Node> {
        let views = self.model.modules[s.module].imports.clone();
        let view = *self.random.pick_some(&views)?;
        let op = *self.random.pick(&["==", "!="]);
        let root = self.model.root(self.model.views[view].module);
        if self.model.modules[root].fields.iter().all(|f| f.is_static) {
            return None;
        }
        let (a, b) = (self.pointer(s, view)?, self.pointer(s, view)?);
        if a.to_string() == b.to_string() {
            return None;
        }
        Some(Node::new("true", format!("($ {op} $)"), vec![a, b]))
    }

    /// An object of exactly this module, as a value.
    pub fn object(&mut self, s: &mut Scope, module: ModuleId, d: u32) -> Option<Node> {
        let mut all = Vec::new();
        for path in self.paths(s) {
            match path.ty {
                Ty::Object(m) if m == module => all.push(path.text),
                Ty::Pointer(view) if self.model.views[view].module == module => {
                    all.push(format!("*{}", path.text))
                }
                _ => {}
            }
        }
        if all.is_empty() || self.random.percent(30) {
            let called = d.checked_sub(1).and_then(|d| self.object_call(s, module, d));
            return called.or_else(|| self.new_object(s, module, d));
        }
        self.random.pick_some(&all).map(|text| Node::text(format!("({text})")))
    }

    /// `M(arguments)`
    pub fn new_object(&mut self, s: &mut Scope, module: ModuleId, d: u32) -> Option<Node> {
        let constructor = self.model.modules[module].constructor.clone();
        if constructor.rank >= s.rank || constructor.cost > s.budget || !self.can_name(s, module) {
            return None;
        }
        s.budget -= constructor.cost;
        let args = self.arguments(s, &constructor.params, d)?;
        let name = &self.model.modules[module].name;
        Some(Node::new("", format!("{name}({})", places(args.len())), args))
    }

    /// A module of which an object can be made here.
    pub fn constructible(&mut self, s: &Scope) -> Option<ModuleId> {
        let fits = |&m: &ModuleId| {
            let constructor = &self.model.modules[m].constructor;
            constructor.rank < s.rank && constructor.cost <= s.budget && self.can_name(s, m)
        };
        let all: Vec<ModuleId> = (0..self.model.modules.len()).filter(fits).collect();
        self.random.pick_some(&all).copied()
    }

    /// Whether the name of a module, as such, is known in the scope.
    pub fn can_name(&self, s: &Scope, module: ModuleId) -> bool {
        let here = &self.model.modules[s.module];
        let name = &self.model.modules[module].name;
        s.module == module
            || (here.parent_name == *name && !here.renames_parent)
            || here.imports.contains(&self.model.modules[module].view)
    }

    /// Arguments for parameters of these types.
    pub fn arguments(&mut self, s: &mut Scope, types: &[Ty], d: u32) -> Option<Vec<Node>> {
        types.iter().map(|ty| self.argument(s, ty, d)).collect()
    }

    pub fn argument(&mut self, s: &mut Scope, ty: &Ty, d: u32) -> Option<Node> {
        match ty {
            Ty::Bool => Some(self.bool(s, d)),
            Ty::Int(_) => Some(self.int(s, d)),
            Ty::Pointer(view) => self.pointer(s, *view),
            Ty::IntPointer(int) => self.int_pointer(s, *int),
            Ty::Object(module) => self.object(s, *module, d),
            Ty::Void | Ty::Array(..) | Ty::Objects(..) => None,
        }
    }

    /// The type of a new variable or field for a number.
    pub fn scalar(&mut self) -> Ty {
        if self.random.percent(20) { Ty::Bool } else { Ty::Int(self.any_int()) }
    }
}

/// `$, $, $`
pub fn places(count: usize) -> String {
    vec!["$"; count].join(", ")
}
