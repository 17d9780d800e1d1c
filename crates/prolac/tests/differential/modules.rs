//! Modules: headers, fields, constructors, methods and overrides, views.

use std::collections::{BTreeMap, BTreeSet};

use super::expressions::{Want, places};
use super::model::{
    Constructor, Equation, Exception, Field, INTS, Import, Int, Module, ModuleId, Slot, SlotId, Source, Ty,
    View, ViewId,
};
use super::node::Node;
use super::scope::{Scope, Var};
use super::{Entry, Generator};

impl Generator {
    /// A module, derived from one that is there or not.
    pub fn module(&mut self) {
        let id = self.model.modules.len();
        let parent = self.parent_view();
        let parent_module = parent.map(|view| self.model.views[view].module);
        let name = format!("M{id}");
        let path = if self.random.percent(25) { format!("Pack.{name}") } else { name.clone() };
        let ancestors: Vec<ModuleId> = parent_module.map_or(vec![], |p| self.model.ancestry(p).collect());
        let imports: Vec<ViewId> = (0..self.model.views.len())
            .filter(|&v| !ancestors.contains(&self.model.views[v].module))
            .collect();
        let mut module = Module {
            path: path.clone(),
            name: name.clone(),
            parent: parent_module,
            renames_parent: false,
            parent_name: parent.map_or(String::new(), |v| self.model.views[v].name.clone()),
            fields: Vec::new(),
            constructor: parent_module.map_or(Constructor { params: vec![], rank: 0, cost: 3 }, |p| {
                self.model.modules[p].constructor.clone()
            }),
            is_linked: parent_module.is_some_and(|p| self.model.modules[p].is_linked),
            names: parent.map_or(BTreeMap::new(), |v| self.model.views[v].names.clone()),
            implicit: parent_module.map_or(BTreeMap::new(), |p| self.model.modules[p].implicit.clone()),
            view: self.model.views.len(),
            imports,
            exceptions: Vec::new(),
            source: Source::default(),
        };
        module.source.name = module.name.clone();
        module.source.header = self.header(parent, &mut module);
        module.source.imports = self.imports(&mut module);
        self.model.modules.push(module);
        self.model.views.push(View { path, name, module: id, names: BTreeMap::new() });
        self.members(id);
        self.finish_view(id);
    }

    fn parent_view(&mut self) -> Option<ViewId> {
        let deep = |v: &ViewId| self.model.ancestry(self.model.views[*v].module).count() < 5;
        let views: Vec<ViewId> = (0..self.model.views.len()).filter(deep).collect();
        if self.random.percent(30) { None } else { self.random.pick_some(&views).copied() }
    }

    /// From `module` to the imports, with operators on the parent.
    fn header(&mut self, parent: Option<ViewId>, module: &mut Module) -> String {
        let Some(parent) = parent else { return format!("module {}", module.path) };
        let operators = self.parent_operators(module);
        format!("module {} :> {}{operators}", module.path, self.model.views[parent].path)
    }

    /// The imports; static methods of one can be found by their names alone.
    fn imports(&mut self, module: &mut Module) -> Vec<Import> {
        let open = self.random.pick_some(&module.imports).copied().filter(|_| self.random.percent(40));
        let open = open.filter(|_| module.implicit.is_empty());
        let mut all = Vec::new();
        for &view in &module.imports {
            let operators = match self.random.below(20) {
                _ if open == Some(view) => " using allstatic",
                0 => " inline all",
                1 => " noinline all",
                2 => " pathinline all",
                _ => "",
            };
            let view = &self.model.views[view];
            all.push(Import { name: view.name.clone(), text: format!("{}{operators}", view.path) });
        }
        if let Some(view) = open {
            let names = self.model.views[view].names.iter();
            let names =
                names.filter(|(slot, name)| self.model.slots[**slot].is_static && !name.contains('.'));
            module.implicit.extend(names.map(|(&slot, name)| (slot, name.clone())));
        }
        all
    }

    fn parent_operators(&mut self, module: &mut Module) -> String {
        let names: Vec<(SlotId, String)> = module.names.iter().map(|(&s, n)| (s, n.clone())).collect();
        match (self.random.below(10), self.random.pick_some(&names).cloned()) {
            (0, Some((slot, name))) => {
                module.renames_parent = true;
                module.names.remove(&slot);
                format!(" hide {name}")
            }
            (1, Some((slot, name))) if !name.contains('.') => {
                let new = self.fresh("r");
                module.renames_parent = true;
                module.names.insert(slot, new.clone());
                format!(" rename ({new} = {name})")
            }
            (2, Some(_)) => " inline all".into(),
            (3, _) => " noinline all".into(),
            _ => String::new(),
        }
    }

    fn members(&mut self, id: ModuleId) {
        self.exceptions(id);
        self.fields(id);
        let rank = self.next_rank();
        if self.model.modules[id].fields.iter().any(|f| !f.is_static) || self.random.percent(20) {
            self.constructor(id, rank);
        }
        let inherited: Vec<SlotId> = self.model.modules[id].names.keys().copied().collect();
        for slot in inherited {
            if self.random.percent(40) && self.definition(id, slot, true) {
                self.model.slots[slot].is_overridden = true;
            }
        }
        for _ in 0..self.random.range(2, 6) {
            let slot = self.slot(id);
            if !self.definition(id, slot, false) {
                self.model.modules[id].names.remove(&slot);
            }
        }
    }

    fn exceptions(&mut self, id: ModuleId) {
        for _ in 0..self.random.below(3) {
            let name = self.fresh("oops-");
            self.model.modules[id].exceptions.push(self.model.exceptions.len());
            self.model.modules[id].source.members.push(Node::text(format!("  exception {name};\n")));
            self.model.exceptions.push(Exception { name, module: id });
        }
    }

    fn fields(&mut self, id: ModuleId) {
        let mut offset = 0;
        let punned = self.model.modules[id].parent.is_none() && self.random.percent(30);
        for _ in 0..self.random.below(6) {
            let is_static = self.random.percent(25);
            let Some(ty) = self.field_type(id, is_static) else { continue };
            let name =
                if self.random.percent(20) { format!("space.{}", self.fresh("g")) } else { self.fresh("f-") };
            let mut field = Field { name, ty, is_static, is_open: false, offset: None };
            if punned && !is_static && self.random.percent(70) {
                field.offset = self.offset(&field.ty, &mut offset);
            }
            self.open_field(id, &mut field);
            self.field(id, field);
        }
    }

    fn field_type(&mut self, id: ModuleId, is_static: bool) -> Option<Ty> {
        let ty = match self.random.weighted(&[60, 10, 14, 8, 8]) {
            0 => self.scalar(),
            1 => Ty::Array(self.any_int(), *self.random.pick(&[1, 2, 4])),
            2 => Ty::Object(self.part(id, is_static)?),
            3 => Ty::Objects(self.part(id, true)?, *self.random.pick(&[1, 2])),
            _ if is_static => self.scalar(),
            _ => Ty::Pointer(*self.random.pick_some(&self.model.modules[id].imports)?),
        };
        Some(ty)
    }

    /// A module for a field; one that can be made without arguments if it must.
    fn part(&mut self, id: ModuleId, simple: bool) -> Option<ModuleId> {
        let fits = |&view: &ViewId| {
            let module = &self.model.modules[self.model.views[view].module];
            module.view == view && !module.is_linked && (!simple || module.constructor.params.is_empty())
        };
        let views: Vec<ViewId> = self.model.modules[id].imports.iter().copied().filter(fits).collect();
        self.random.pick_some(&views).map(|&view| self.model.views[view].module)
    }

    /// The next offset that a number can have, sometimes with a gap.
    fn offset(&mut self, ty: &Ty, next: &mut u64) -> Option<Node> {
        const SIZES: [u64; 9] = [1, 2, 4, 8, 1, 2, 4, 8, 4];
        let size = match ty {
            Ty::Int(int) => SIZES[*int],
            Ty::Bool => 4,
            _ => return None,
        };
        let start = (*next + self.random.below(6) as u64).next_multiple_of(size);
        *next = start + size;
        Some(Node::text(format!(" @ {start}")))
    }

    fn open_field(&mut self, id: ModuleId, field: &mut Field) {
        let module = &self.model.modules[id];
        let view = match field.ty {
            Ty::Pointer(view) => view,
            Ty::Object(part) => self.model.modules[part].view,
            _ => return,
        };
        let target = self.model.views[view].module;
        let stranger = self.model.root(target) != self.model.root(id);
        if field.is_static || field.name.contains('.') || !module.implicit.is_empty() || !stranger {
            return;
        }
        field.is_open = true;
        let known: BTreeSet<&String> = module.names.values().collect();
        let names = self.model.views[view].names.iter();
        let names = names.filter(|(slot, name)| {
            !self.model.slots[**slot].is_static && !name.contains('.') && !known.contains(name)
        });
        let names: Vec<(SlotId, String)> = names.map(|(&slot, name)| (slot, name.clone())).collect();
        self.model.modules[id].implicit.extend(names);
    }

    fn field(&mut self, id: ModuleId, field: Field) {
        let is_static = if field.is_static { "static " } else { "" };
        let using = if field.is_open { " using all" } else { "" };
        let ty = self.model.type_name(&field.ty);
        let offset = field.offset.as_ref().map_or(String::new(), Node::to_string);
        let text = format!("  {is_static}field {} :> {ty}{using}{offset};\n", field.name);
        let module = &mut self.model.modules[id];
        module.is_linked |= matches!(field.ty, Ty::Pointer(_));
        module.source.members.push(Node::text(text));
        module.fields.push(field);
    }

    /// A constructor that gives every field a value before anything can read it.
    fn constructor(&mut self, id: ModuleId, rank: usize) {
        self.model.modules[id].constructor.rank = rank;
        let mut params: Vec<Ty> = (0..self.random.below(3)).map(|_| self.scalar()).collect();
        let fields = self.model.modules[id].fields.iter().filter(|f| !f.is_static);
        params.extend(fields.filter(|f| matches!(f.ty, Ty::Pointer(_))).map(|f| f.ty.clone()));
        let parent = self.model.modules[id].parent.map(|p| self.model.modules[p].constructor.params.clone());
        params.extend(parent.iter().flatten().filter(|ty| matches!(ty, Ty::Pointer(_))).cloned());
        let names = params.iter().enumerate().map(|(i, ty)| Var::new(format!("p{i}"), ty.clone()));
        let mut s = self.scope(id, rank, 60, names.collect());
        let mut parts = Vec::new();
        let mut steps = self.part_constructors(id, &mut s, &parent, &mut parts);
        steps.extend(self.field_values(id, &mut s, &mut parts));
        s.this = true;
        s.fuel = 8;
        parts.push(self.void(&mut s, 2));
        steps.push("$".into());
        let signature = self.signature(&s.vars[..params.len()]);
        let text = format!("  constructor{signature} ::= {};\n", steps.join(", "));
        self.model.modules[id].source.members.push(Node::new("", text, parts));
        self.model.modules[id].constructor = Constructor { params, rank, cost: 400 };
    }

    fn part_constructors(
        &mut self,
        id: ModuleId,
        s: &mut Scope,
        parent: &Option<Vec<Ty>>,
        parts: &mut Vec<Node>,
    ) -> Vec<String> {
        let mut steps = Vec::new();
        if let Some(params) = parent
            && (!params.is_empty() || self.random.percent(50))
        {
            let args = self.arguments(s, params, 1).unwrap_or_default();
            let name = self.model.modules[id].parent_name.clone();
            let name = if self.random.percent(20) { "super.constructor".into() } else { name };
            steps.push(format!("{name}({})", places(args.len())));
            parts.extend(args);
        }
        for (name, part) in self.objects_in(id) {
            let params = self.model.modules[part].constructor.params.clone();
            if !params.is_empty() {
                let args = self.arguments(s, &params, 1).unwrap_or_default();
                steps.push(format!("{name}.constructor({})", places(args.len())));
                parts.extend(args);
            }
        }
        steps
    }

    fn objects_in(&self, id: ModuleId) -> Vec<(String, ModuleId)> {
        let fields = self.model.modules[id].fields.iter().filter(|f| !f.is_static);
        let objects = fields.filter_map(|f| match f.ty {
            Ty::Object(part) => Some((f.name.clone(), part)),
            _ => None,
        });
        objects.collect()
    }

    fn field_values(&mut self, id: ModuleId, s: &mut Scope, parts: &mut Vec<Node>) -> Vec<String> {
        let fields = self.model.modules[id].fields.iter().filter(|f| !f.is_static);
        let fields: Vec<(String, Ty)> = fields.map(|f| (f.name.clone(), f.ty.clone())).collect();
        let mut steps = Vec::new();
        for (name, ty) in fields {
            match ty {
                Ty::Array(_, count) => steps.extend((0..count).map(|i| format!("{name}[{i}] = {}", i + 1))),
                Ty::Bool | Ty::Int(_) | Ty::Pointer(_) => {
                    if let Some(value) = self.argument(s, &ty, 1) {
                        steps.push(format!("{name} = $"));
                        parts.push(value);
                    }
                }
                _ => {}
            }
        }
        steps
    }

    /// A new method, without definitions yet.
    fn slot(&mut self, id: ModuleId) -> SlotId {
        let counts = self.random.percent(20);
        let mut params = if counts { vec![Ty::Int(super::model::INT)] } else { vec![] };
        for _ in 0..self.random.below(3) {
            let param = self.param_type(id);
            params.push(param);
        }
        let returns = self.return_type(id);
        let mut throws = BTreeSet::new();
        if matches!(returns, Ty::Void | Ty::Bool) && self.random.percent(50) {
            throws.extend((0..self.model.exceptions.len()).filter(|_| self.random.percent(30)));
        }
        let rank = self.next_rank();
        let cost = 60 * 2i64.pow((rank / 8).min(8) as u32);
        let is_static = self.random.percent(25);
        let is_detached = !is_static && self.random.percent(20);
        let slot = Slot {
            is_static,
            params,
            returns,
            throws,
            rank,
            cost,
            counts,
            is_overridden: false,
            is_detached,
        };
        self.model.slots.push(slot);
        let number = self.model.slots.len() - 1;
        let name = match self.random.below(8) {
            0 => format!("space.{}", self.fresh("do-")),
            1 => self.fresh("while"),
            _ => self.fresh("m-"),
        };
        self.model.modules[id].names.insert(number, name);
        number
    }

    fn param_type(&mut self, id: ModuleId) -> Ty {
        let imports = self.model.modules[id].imports.clone();
        match (self.random.weighted(&[60, 20, 10, 10]), self.random.pick_some(&imports)) {
            (1, Some(&view)) => Ty::Pointer(view),
            (2, _) => Ty::IntPointer(self.any_int()),
            (3, Some(_)) => self.part(id, false).map_or(Ty::Bool, Ty::Object),
            _ => self.scalar(),
        }
    }

    fn return_type(&mut self, id: ModuleId) -> Ty {
        match self.random.weighted(&[45, 25, 22, 8]) {
            0 => Ty::Int(self.any_int()),
            1 => Ty::Bool,
            2 => Ty::Void,
            _ => self.part(id, false).map_or(Ty::Void, Ty::Object),
        }
    }

    /// One definition of a method in a module, if its types can be named there and a result made.
    fn definition(&mut self, id: ModuleId, slot: SlotId, overrides: bool) -> bool {
        let Slot { is_static, returns, params, throws, rank, cost, counts, is_detached, .. } =
            &self.model.slots[slot];
        let (counts, returns, throws) = (*counts, returns.clone(), throws.clone());
        let mut vars = Vec::new();
        for (i, ty) in params.iter().enumerate() {
            vars.push(Var { name: format!("p{i}"), ty: ty.clone(), writable: !(counts && i == 0) });
        }
        if vars.iter().map(|v| &v.ty).chain([&returns]).any(|ty| !self.can_write(id, ty)) {
            return false;
        }
        let (is_static, this, budget, rank) = (*is_static, !is_static && !is_detached, *cost, *rank);
        let mut s = self.scope(id, rank, if counts { budget / 8 } else { budget }, vars.clone());
        (s.this, s.complete, s.allowed) = (this, this, throws);
        s.overridden = Some(slot).filter(|_| overrides && !counts);
        let body = self.body(&mut s, slot, &returns);
        let Some(body) = body else { return false };
        let name = self.model.modules[id].names.get(&slot).cloned().unwrap_or_default();
        let signature = self.signature(&vars);
        let prefix = if is_static { "static " } else { "" };
        let ty = self.model.type_name(&returns);
        let text = format!("  {prefix}{name}{signature} :> {ty} ::= $;\n");
        self.model.modules[id].source.members.push(Node::new("", text, vec![body]));
        true
    }

    /// Whether a type can be written inside a module.
    fn can_write(&self, id: ModuleId, ty: &Ty) -> bool {
        let module = &self.model.modules[id];
        match ty {
            Ty::Pointer(view) => module.imports.contains(view),
            Ty::Object(part) => module.imports.contains(&self.model.modules[*part].view),
            _ => true,
        }
    }

    pub fn scope(&self, module: ModuleId, rank: usize, budget: i64, vars: Vec<Var>) -> Scope {
        let fuel = budget.clamp(10, 40);
        let allowed = BTreeSet::new();
        Scope { module, this: false, complete: false, vars, allowed, rank, budget, fuel, overridden: None }
    }

    pub fn body(&mut self, s: &mut Scope, slot: SlotId, returns: &Ty) -> Option<Node> {
        let want = match returns {
            Ty::Int(_) => Want::Int,
            Ty::Bool => Want::Bool,
            Ty::Object(module) => {
                let before = self.void(s, 2);
                let value = self.object(s, *module, 2).or_else(|| self.new_object(s, *module, 2))?;
                return Some(Node::new("", "$, $", vec![before, value]));
            }
            _ => Want::Void,
        };
        if self.model.slots[slot].counts {
            return Some(self.counting(s, slot, want));
        }
        Some(self.expression(s, want, 4))
    }

    /// A body that calls itself until its first parameter is zero.
    fn counting(&mut self, s: &mut Scope, slot: SlotId, want: Want) -> Node {
        let before = self.void(s, 3);
        let end = self.expression(s, want, 2);
        let params = self.model.slots[slot].params.clone();
        let Some(mut args) = self.arguments(s, &params[1..], 2) else { return end };
        let name = self.model.modules[s.module].names.get(&slot).cloned().unwrap_or_default();
        args.insert(0, Node::text("p0 - 1"));
        let again = Node::new("", format!("{name}({})", places(args.len())), args);
        let forms: &[&str] = match want {
            Want::Void => &["p0 > 0 ==> ($, $) ||| $", "p0 > 0 ==> ($, $, $)"],
            Want::Bool => &["(p0 > 0 ==> $, $ ||| $)", "(p0 > 0 && ($, $)) || $"],
            Want::Int => &["(p0 > 0 ? ($, $) : $)", "p0 > 0 ==> $, $ + 1 ||| $"],
        };
        Node::new(want.simple(), *self.random.pick(forms), vec![before, again, end])
    }

    fn signature(&self, vars: &[Var]) -> String {
        let params: Vec<String> =
            vars.iter().map(|v| format!("{} :> {}", v.name, self.model.type_name(&v.ty))).collect();
        if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) }
    }

    /// Operators after the brace, and an equation now and then.
    fn finish_view(&mut self, id: ModuleId) {
        let mut names = self.model.modules[id].names.clone();
        let all: Vec<(SlotId, String)> = names.iter().map(|(&s, n)| (s, n.clone())).collect();
        if let Some((slot, name)) = self.random.pick_some(&all).filter(|_| self.random.percent(20)) {
            names.remove(slot);
            self.model.modules[id].source.operators = format!(" hide {name}");
        }
        let view = self.model.modules[id].view;
        self.model.views[view].names = names;
        if self.random.percent(30) {
            self.equation(view);
        }
    }

    fn equation(&mut self, of: ViewId) {
        let mut names = self.model.views[of].names.clone();
        let mut text = String::new();
        for (slot, name) in self.model.views[of].names.clone() {
            match self.random.below(8) {
                0 => {
                    names.remove(&slot);
                    text += &format!(" hide {name}");
                }
                1 if !name.contains('.') => {
                    let new = self.fresh("r");
                    text += &format!(" rename ({new} = {name})");
                    names.insert(slot, new);
                }
                2 => text += &format!(" inline {name}"),
                _ => {}
            }
        }
        let name = self.fresh("E");
        let module = self.model.views[of].module;
        let View { path, name: of, .. } = &self.model.views[of];
        let text = format!("module {name} ::= {path}{text};\n");
        self.equations.push(Equation { name: name.clone(), of: of.clone(), text });
        self.model.views.push(View { path: name.clone(), name, module, names });
    }

    pub fn next_rank(&mut self) -> usize {
        self.rank += 1;
        self.rank
    }

    /// A name that nothing else has.
    pub fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// The module with the methods that are exported.
    pub fn main_module(&mut self, entries: usize) -> Vec<Entry> {
        let id = self.model.modules.len();
        let imports: Vec<ViewId> = (0..self.model.views.len()).collect();
        let import = |v: &ViewId| {
            let view = &self.model.views[*v];
            Import { name: view.name.clone(), text: view.path.clone() }
        };
        let source = Source {
            name: "Main".into(),
            header: "module Main".into(),
            imports: imports.iter().map(import).collect(),
            ..Source::default()
        };
        self.model.modules.push(Module {
            path: "Main".into(),
            name: "Main".into(),
            parent: None,
            parent_name: String::new(),
            renames_parent: false,
            fields: Vec::new(),
            constructor: Constructor { params: vec![], rank: usize::MAX, cost: 0 },
            is_linked: false,
            names: BTreeMap::new(),
            implicit: BTreeMap::new(),
            view: self.model.views.len(),
            imports,
            exceptions: Vec::new(),
            source,
        });
        (0..entries).map(|number| self.entry(id, number)).collect()
    }

    /// Methods that read what static fields hold.
    pub fn readers(&mut self) -> Vec<String> {
        let id = self.model.modules.len() - 1;
        let s = self.scope(id, usize::MAX, 0, vec![]);
        let mut names = Vec::new();
        for path in self.paths(&s).into_iter().filter(|p| matches!(p.ty, Ty::Int(_) | Ty::Bool)) {
            let name = format!("r{}", names.len());
            let ty = self.model.type_name(&path.ty);
            let text = format!("  static {name} :> {ty} ::= {};\n", path.text);
            self.model.modules[id].source.members.push(Node::text(text));
            names.push(name);
        }
        names
    }

    fn entry(&mut self, id: ModuleId, number: usize) -> Entry {
        let params: Vec<Int> = (0..self.random.range(1, 3)).map(|_| self.random.below(INTS.len())).collect();
        let (want, returns) = match self.random.below(3) {
            0 => (Want::Int, Ty::Int(self.any_int())),
            1 => (Want::Bool, Ty::Bool),
            _ => (Want::Void, Ty::Void),
        };
        let vars: Vec<Var> =
            params.iter().enumerate().map(|(i, &int)| Var::new(format!("p{i}"), Ty::Int(int))).collect();
        let rank = self.next_rank();
        let mut s = self.scope(id, rank, 200_000, vars.clone());
        s.fuel = 120;
        if want != Want::Int {
            s.allowed = (0..self.model.exceptions.len()).filter(|_| self.random.percent(60)).collect();
        }
        let body = self.with_objects(&mut s, want, 3);
        let text = format!(
            "  static e{number}{} :> {} ::= $;\n",
            self.signature(&vars),
            self.model.type_name(&returns)
        );
        self.model.modules[id].source.members.push(Node::new("", text, vec![body]));
        Entry { number, params }
    }
}
