//! What a program can use: rapid type analysis from the exports (section 12).
//!
//! One worklist finds three things together: the methods that can run, the modules of which Prolac code constructs
//! objects, and the dispatches that happen. A dispatch on static type T reaches what the constructed modules at or below T
//! define. If there is none, C code made the object and it is one of T itself: the call goes to T's own definition
//! ([`warnings`] says so where that could surprise).

use std::collections::{BTreeMap, BTreeSet};

use clickwork_source::{Diagnostic, Span};

use crate::program::tree::{Call, Dispatch, Expr, ExprKind};
use crate::program::{MethodId, ModuleId, Program, Type};

/// A dispatch: the static type of the receiver, and the definition that this type has.
pub type Site = (ModuleId, MethodId);

/// What can be used, with what is known about dispatches.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    methods: Vec<bool>,
    /// For each module, the constructed modules at or below it.
    constructed: Vec<Vec<ModuleId>>,
    /// The dispatches in methods that can run, with the first place of each.
    sites: BTreeMap<Site, Span>,
}

impl Reach {
    /// Analyses a program as it is.
    pub fn new(program: &Program) -> Reach {
        let reach = Reach {
            methods: vec![false; program.methods.len()],
            constructed: vec![Vec::new(); program.modules.len()],
            sites: BTreeMap::new(),
        };
        let mut search = Search { program, reach, waiting: Vec::new(), by_type: BTreeMap::new() };
        search.run();
        search.reach
    }

    /// Whether the method can run.
    pub fn has(&self, method: MethodId) -> bool {
        self.methods[method.0 as usize]
    }

    /// The methods that can run, in the order of their numbers.
    pub fn methods(&self) -> impl Iterator<Item = MethodId> {
        (0..self.methods.len() as u32).map(MethodId).filter(|&m| self.has(m))
    }

    /// The modules at or below `module` of which Prolac code constructs objects.
    pub fn constructed(&self, module: ModuleId) -> &[ModuleId] {
        &self.constructed[module.0 as usize]
    }

    /// The dispatches in methods that can run, each with a place where it happens.
    pub fn sites(&self) -> impl Iterator<Item = (Site, Span)> {
        self.sites.iter().map(|(&site, &span)| (site, span))
    }

    /// The definitions that a dispatch can reach, each once; never empty.
    pub fn targets(&self, program: &Program, site: Site) -> Vec<MethodId> {
        let (module, method) = site;
        let found: BTreeSet<MethodId> =
            self.constructed(module).iter().map(|&m| program.definition_in(m, method)).collect();
        if found.is_empty() {
            vec![program.definition_in(module, method)]
        } else {
            found.into_iter().collect()
        }
    }
}

/// The dispatch that a call asks for, if it asks for one.
pub fn site(program: &Program, call: &Call) -> Option<Site> {
    let receiver = call.receiver.as_ref().filter(|_| call.dispatch == Dispatch::Dynamic)?;
    let module = receiver.ty.pointee().and_then(|to| to.module());
    Some((module.map_or(program[call.method].module, |m| m.module), call.method))
}

/// A warning for each dispatch on a type of which no object is constructed, though there are overrides below it.
pub fn warnings(program: &Program, reach: &Reach) -> Vec<Diagnostic> {
    let suspect = reach.sites().filter(|&((module, method), _)| {
        reach.constructed(module).is_empty() && !overrides_below(program, module, method).is_empty()
    });
    suspect.map(|(site, span)| warning(program, site, span)).collect()
}

/// The definitions in modules derived from `module` that replace the one it has.
pub fn overrides_below(program: &Program, module: ModuleId, method: MethodId) -> BTreeSet<MethodId> {
    let own = program.definition_in(module, method);
    let mut found = BTreeSet::new();
    let mut waiting = program[module].children.clone();
    while let Some(child) = waiting.pop() {
        found.insert(program.definition_in(child, method));
        waiting.extend(&program[child].children);
    }
    found.remove(&own);
    found
}

fn warning(program: &Program, (module, method): Site, span: Span) -> Diagnostic {
    let name = program.module_name(module);
    let own = program.definition_in(module, method);
    let message = format!(
        "no object of {name} or of a module derived from it is constructed in Prolac, so that this calls {}",
        program.method_name(own)
    );
    let mut diagnostic = Diagnostic::warning(span, message);
    for over in overrides_below(program, module, method) {
        diagnostic = diagnostic.label(program[over].span, "this override is never called from there");
    }
    diagnostic.hint(
        "if C code makes the objects, export the constructor of their module: `export MODULE.constructor;`",
    )
}

struct Search<'a> {
    program: &'a Program,
    reach: Reach,
    waiting: Vec<MethodId>,
    /// The dispatches by static type.
    by_type: BTreeMap<ModuleId, Vec<MethodId>>,
}

impl Search<'_> {
    fn run(&mut self) {
        for &method in &self.program.exports {
            self.method(method);
            if self.program[method].kind.is_constructor() {
                self.construct(self.program[method].module);
            }
        }
        loop {
            while let Some(method) = self.waiting.pop() {
                let body = &self.program[method].body;
                self.expr(&body.root);
                let params = &body.locals[..self.program[method].params as usize];
                params.iter().for_each(|param| self.objects_in(&param.ty));
            }
            self.foreign_objects();
            if self.waiting.is_empty() {
                break;
            }
        }
    }

    /// Dispatches for which nothing is constructed go to the type's own definition.
    fn foreign_objects(&mut self) {
        let sites: Vec<Site> = self.reach.sites.keys().copied().collect();
        for (module, method) in sites {
            if self.reach.constructed(module).is_empty() {
                self.method(self.program.definition_in(module, method));
            }
        }
    }

    fn expr(&mut self, root: &Expr) {
        root.walk(&mut |expr| match &expr.kind {
            ExprKind::Call(call) => match site(self.program, call) {
                Some(site) => self.dispatch(site, expr.span),
                None => self.method(call.method),
            },
            ExprKind::Construct { module, .. } | ExprKind::ConstructAt { module, .. } => {
                self.construct(*module)
            }
            // A static object has its type from the start, and so have the objects in it.
            ExprKind::StaticField(_) => self.objects_in(&expr.ty),
            // So has a copy, whatever the original was.
            ExprKind::Let(bindings, _) => {
                bindings.iter().filter_map(|(_, value)| value.as_ref()).for_each(|v| self.objects_in(&v.ty));
            }
            _ => {}
        });
    }

    fn method(&mut self, method: MethodId) {
        if !std::mem::replace(&mut self.reach.methods[method.0 as usize], true) {
            self.waiting.push(method);
        }
    }

    fn construct(&mut self, module: ModuleId) {
        self.method(self.program[module].constructor);
        self.object(module);
    }

    /// There are all objects that a value of this type has.
    fn objects_in(&mut self, ty: &Type) {
        self.program.objects_in(ty).into_iter().for_each(|m| self.object(m));
    }

    /// There is an object of exactly this type.
    fn object(&mut self, module: ModuleId) {
        if self.reach.constructed(module).contains(&module) {
            return;
        }
        for ancestor in self.program.ancestry(module) {
            self.reach.constructed[ancestor.0 as usize].push(module);
            for method in self.by_type.get(&ancestor).cloned().unwrap_or_default() {
                self.method(self.program.definition_in(module, method));
            }
        }
    }

    fn dispatch(&mut self, site: Site, span: Span) {
        if self.reach.sites.contains_key(&site) {
            return;
        }
        self.reach.sites.insert(site, span);
        let (module, method) = site;
        self.by_type.entry(module).or_default().push(method);
        for constructed in self.reach.constructed(module).to_vec() {
            self.method(self.program.definition_in(constructed, method));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::testing::{self, Builder};

    /// `Base.hook`, overridden in `Derived`; the exported `Base.run` calls it on a `*Base`.
    fn hooks() -> (Builder, [ModuleId; 2], [MethodId; 3]) {
        let mut b = Builder::default();
        let (base, derived) = (b.module("Base", None), b.module("Derived", Some(0)));
        let hook = b.method(base, "hook", Type::Bool, testing::truth());
        let over = b.method(derived, "hook", Type::Bool, testing::truth());
        let run = b.method(base, "run", Type::Bool, b.send(testing::this_pointer(base), hook));
        b.program.exports.push(run);
        (b, [base, derived], [hook, over, run])
    }

    fn reached(program: &Program) -> Vec<MethodId> {
        Reach::new(program).methods().collect()
    }

    #[test]
    fn an_object_that_c_made_is_of_its_static_type() {
        let (b, [base, _], [hook, _, run]) = hooks();
        assert_eq!(reached(&b.program), [hook, run]);
        let reach = Reach::new(&b.program);
        assert_eq!(reach.targets(&b.program, (base, hook)), [hook]);
        let warnings = warnings(&b.program, &reach);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].message.contains("no object of Base"), "{}", warnings[0].message);
    }

    #[test]
    fn only_definitions_of_constructed_modules_are_called() {
        let (mut b, [base, derived], [hook, over, run]) = hooks();
        let make = b.method(base, "make", Type::Void, testing::construct(derived));
        b.program.exports.push(make);
        let constructor = b.program[derived].constructor;
        assert_eq!(reached(&b.program), [constructor, over, run, make]);
        let reach = Reach::new(&b.program);
        assert_eq!(reach.targets(&b.program, (base, hook)), [over]);
        assert!(super::warnings(&b.program, &reach).is_empty());
    }

    #[test]
    fn an_exported_constructor_is_as_good_as_a_construction() {
        let (mut b, [base, derived], [hook, over, _]) = hooks();
        let constructors = [base, derived].map(|m| b.program[m].constructor);
        b.program.exports.extend(constructors);
        assert_eq!(Reach::new(&b.program).targets(&b.program, (base, hook)), [hook, over]);
    }
}
