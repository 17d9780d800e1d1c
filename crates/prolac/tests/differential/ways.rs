//! The ways in which a program can run, all of which must give the same.

use clickwork_prolac::interpret::Trap;
use clickwork_prolac::optimize::{Options, optimize};

use super::compiled::{self, Compiler};
use super::{Failure, Source, interpreted, rules};

/// A way to run a program, other than in the interpreter as it is.
#[derive(Clone)]
pub struct Way {
    name: String,
    options: Options,
    /// Without one, the program is interpreted.
    compiler: Option<Compiler>,
    /// What is in variables without a value.
    junk: u8,
}

impl Way {
    fn interpreted(name: &str, options: Options) -> Way {
        Way { name: name.into(), options, compiler: None, junk: 0xa5 }
    }

    fn compiled(name: &str, options: Options, compiler: &Compiler) -> Way {
        let name = format!("{name}, {} {}", compiler.program, compiler.options);
        Way { name, options, compiler: Some(*compiler), junk: 0 }
    }
}

/// The ways to run a program: after each optimisation interpreted and compiled.
pub fn ways(compiler: &Compiler) -> Vec<Way> {
    let both = |(name, options)| [Way::interpreted(name, options), Way::compiled(name, options, compiler)];
    optimisations().into_iter().flat_map(both).collect()
}

fn optimisations() -> [(&'static str, Options); 6] {
    let all = Options::default();
    [
        ("-O0", Options { level: 0, ..all }),
        ("-O1", Options { level: 1, ..all }),
        ("-O2", Options { level: 2, ..all }),
        ("-O3", all),
        ("--no-cha", Options { cha: false, ..all }),
        ("--no-inline", Options { inline: false, ..all }),
    ]
}

/// Runs a program in some ways: what is wrong, and in which way.
pub fn compare(source: &Source, ways: &[Way]) -> Result<(), (Failure, Vec<Way>)> {
    let (program, sources) =
        interpreted::check(&source.to_string()).map_err(|text| (Failure::Rejected(text), vec![]))?;
    let explain = |trap: Trap| format!("{trap}: `{}`", sources.slice(trap.span));
    let mut calls = interpreted::calls(source, &program);
    let expected = interpreted::run(&program, &mut calls, 0);
    let expected = expected.map_err(|trap| (Failure::Trap(explain(trap)), vec![]))?;
    for way in ways {
        let mut optimised = program.clone();
        optimize(&mut optimised, &way.options);
        if let Some(broken) = rules::broken(&optimised).into_iter().next() {
            return Err((Failure::Differs(format!("{}: {broken}", way.name)), vec![way.clone()]));
        }
        let lines = match &way.compiler {
            Some(compiler) => compiled::run(&optimised, &sources, &calls, compiler),
            None => interpreted::run(&optimised, &mut calls.clone(), way.junk)
                .map_err(|trap| Failure::Differs(explain(trap))),
        };
        let same = lines.and_then(|lines| {
            let text = interpreted::difference(&program, &calls, &expected, &lines);
            text.map_or(Ok(()), |text| Err(Failure::Differs(text)))
        });
        same.map_err(|failure| (failure.after(&way.name), vec![way.clone()]))?;
    }
    Ok(())
}
