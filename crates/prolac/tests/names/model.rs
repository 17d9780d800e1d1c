//! A program in small: modules with parents, imports, operators and members, and equations.

/// A module or equation, by its place in the program.
pub type Id = usize;

/// Names of namespaces inside a module, then a name.
pub type Path = Vec<String>;

/// A whole program. The last item is the module `Main`, from whose imports everything is looked at.
#[derive(Clone, Debug)]
pub struct Program {
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub enum Item {
    Module(Module),
    Equation(Expr),
}

#[derive(Clone, Debug, Default)]
pub struct Module {
    pub parents: Vec<Expr>,
    pub imports: Vec<Expr>,
    pub members: Vec<Member>,
    pub operators: Vec<Operator>,
}

/// A module's name with operators.
#[derive(Clone, Debug)]
pub struct Expr {
    pub of: Id,
    pub operators: Vec<Operator>,
}

#[derive(Clone, Debug)]
pub enum Operator {
    Hide(Pick),
    Show { new: Path, old: Path },
    ShowAll,
    Rename { new: Path, old: Path },
    Using(Pick),
    NotUsing(Pick),
    Level(u8, Pick),
}

/// What an operator works on.
#[derive(Clone, Debug)]
pub enum Pick {
    All,
    AllStatic,
    Inside(String),
    /// `P.all`
    From(Id),
    /// `P.x`
    FromNamed(Id, String),
    Named(Path),
    Pattern(String),
}

#[derive(Clone, Debug)]
pub struct Member {
    pub path: Path,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A method that returns a number that no other returns.
    Number {
        is_static: bool,
    },
    /// A dynamic method that returns what a name in it gives.
    Probe(Used),
    Exception,
    /// A field of type int.
    Int,
    /// A pointer to a module that the header names.
    Pointer {
        of: Id,
        operators: Vec<Operator>,
        is_static: bool,
    },
}

/// How a probe names something.
#[derive(Clone, Debug)]
pub enum Used {
    Simple(Path),
    Super(Path),
    /// Through the name of the parent.
    Parent(Path),
}

impl Program {
    pub fn module(&self, id: Id) -> &Module {
        match &self.items[id] {
            Item::Module(module) => module,
            Item::Equation(_) => panic!("item {id} is an equation"),
        }
    }

    pub fn module_mut(&mut self, id: Id) -> &mut Module {
        match &mut self.items[id] {
            Item::Module(module) => module,
            Item::Equation(_) => panic!("item {id} is an equation"),
        }
    }

    /// The module that an item is in the end.
    pub fn target(&self, id: Id) -> Id {
        match &self.items[id] {
            Item::Module(_) => id,
            Item::Equation(expr) => self.target(expr.of),
        }
    }

    pub fn main(&self) -> Id {
        self.items.len() - 1
    }

    /// What an item is called.
    pub fn name(&self, id: Id) -> String {
        match &self.items[id] {
            Item::Module(_) if id == self.main() => "Main".into(),
            Item::Module(_) => format!("M{id}"),
            Item::Equation(_) => format!("E{id}"),
        }
    }

    /// All modules but `Main`.
    pub fn modules(&self) -> Vec<Id> {
        (0..self.main()).filter(|&id| matches!(self.items[id], Item::Module(_))).collect()
    }
}
