//! A model of scripts as instructions in tables, in the manner of Click's, and a comparison of random scripts with it.
//!
//! The model knows no text: an instruction is a value, written out only for the element. Two scripts `s` and `t` call each
//! other and themselves, are run, stepped and sent to labels from outside, and wait while time passes.

use crate::testing::Harness;
use proptest::prelude::*;
use std::time::Duration;

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Insn {
    Initial,
    Label(u8),
    Goto(Place, Condition),
    Increment,
    /// Prints a number that tells the instruction, and what the script can see.
    Print(u8),
    Pause(u32),
    Wait,
    Return,
    End,
    Exit,
    Error(bool),
    Set(Call),
    Write(Call),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Label(u8),
    Begin,
    End,
    Exit,
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Always,
    /// `n` is less.
    Below(u8),
    Bad,
}

/// A call of a handler of script 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Run(u8),
    Step(u8, i8),
    Goto(u8, Place),
    Missing,
}

const NAMES: [&str; 2] = ["s", "t"];

impl Place {
    fn text(self) -> String {
        match self {
            Place::Label(n) => format!("l{n}"),
            Place::Begin => "begin".into(),
            Place::End => "end".into(),
            Place::Exit => "exit".into(),
            Place::Error => "error".into(),
        }
    }
}

impl Call {
    /// As written behind `write`, with `n` and what it knows of other calls as arguments.
    fn text(self) -> String {
        match self {
            Call::Run(who) => format!("{}.run $n $#", NAMES[usize::from(who)]),
            Call::Step(who, steps) => format!("{}.step {steps}", NAMES[usize::from(who)]),
            Call::Goto(who, place) => format!("{}.goto {}", NAMES[usize::from(who)], place.text()),
            Call::Missing => "nosuch.h 1".into(),
        }
    }
}

impl Insn {
    fn text(self) -> String {
        match self {
            Insn::Initial => String::new(),
            Insn::Label(n) => format!("label l{n}"),
            Insn::Goto(place, Condition::Always) => format!("goto {}", place.text()),
            Insn::Goto(place, Condition::Below(n)) => format!("goto {} $(lt $n {n})", place.text()),
            Insn::Goto(place, Condition::Bad) => format!("goto {} maybe", place.text()),
            Insn::Increment => "set n $(add $n 1)".into(),
            Insn::Print(tag) => format!("print \"{tag} n=$n ?=$? args=$args 1=$1 r=$r\""),
            Insn::Pause(steps) => format!("pause {steps}"),
            Insn::Wait => "wait 1s".into(),
            Insn::Return => "return $n".into(),
            Insn::End => "end".into(),
            Insn::Exit => "exit".into(),
            Insn::Error(says) => (if says { "error \"no\"" } else { "error" }).into(),
            Insn::Set(call) => format!("set r $({})x", call.text()),
            Insn::Write(call) => format!("write {}", call.text()),
        }
    }
}

/// One script.
#[derive(Clone, Debug, Default)]
struct Script {
    insns: Vec<Insn>,
    waited: Vec<u32>,
    pos: usize,
    count: i64,
    n: i64,
    r: String,
    value: String,
    status: i32,
    args: String,
    /// The steps that nested calls ask for, while the script runs.
    cur_steps: Option<i64>,
    timer: Option<u64>,
}

/// Both scripts, what they printed, and the seconds that have passed, in nanoseconds.
#[derive(Clone, Debug, Default)]
struct World {
    scripts: [Script; 2],
    /// Who waits, the next first. Of two that wait equally long it is who began, as in Click's heap of timers.
    waiting: Vec<usize>,
    printed: String,
    now: u64,
    /// Instructions so far.
    executed: u32,
}

const MAX_JUMPS: u32 = 1000;
/// Scripts that take longer show nothing that others do not.
const PATIENCE: u32 = 2000;
const EINVAL: i32 = -22;
const SECOND: u64 = 1_000_000_000;

impl Script {
    fn new(insns: &[Insn]) -> Script {
        let mut all = vec![];
        if !matches!(insns.first(), Some(Insn::Pause(_) | Insn::Wait)) {
            all.push(Insn::Initial);
        }
        all.extend(insns);
        all.push(Insn::End);
        Script { waited: vec![0; all.len()], insns: all, ..Script::default() }
    }

    fn label(&self, place: Place) -> Option<usize> {
        match place {
            Place::Label(n) => self.insns.iter().position(|i| *i == Insn::Label(n)),
            Place::Begin => Some(0),
            _ => None,
        }
    }

    fn ends(&self) -> Option<Place> {
        match self.insns.get(self.pos)? {
            Insn::End => Some(Place::End),
            Insn::Exit => Some(Place::Exit),
            Insn::Error(_) => Some(Place::Error),
            Insn::Goto(place @ (Place::End | Place::Exit | Place::Error), _) => Some(*place),
            _ => None,
        }
    }
}

impl World {
    fn new(programs: [&[Insn]; 2]) -> World {
        World { scripts: programs.map(Script::new), ..World::default() }
    }

    fn script(&mut self, who: usize) -> &mut Script {
        &mut self.scripts[who]
    }

    /// A call of a handler: its status, and what it returns if it is read.
    fn call(&mut self, call: Call, args: &str) -> (i32, String) {
        let (who, steps, stepping) = match call {
            Call::Missing => return (0, String::new()),
            Call::Run(who) => {
                let script = self.script(who.into());
                (script.pos, script.args) = (0, args.to_string());
                (who, 0, false)
            }
            Call::Step(who, steps) => (who, steps.into(), true),
            Call::Goto(who, place) => {
                let script = self.script(who.into());
                let Some(to) = script.label(place) else { return (EINVAL, String::new()) };
                script.pos = to;
                script.waited[to..].fill(0);
                (who, 0, false)
            }
        };
        self.handle(who.into(), steps, stepping);
        let script = self.script(who.into());
        let is_return = matches!(script.insns.get(script.pos), Some(Insn::Return));
        let value = if is_return { script.value.clone() } else { String::new() };
        let status = if script.ends() == Some(Place::Error) { -1 } else { 0 };
        if status != 0 {
            script.args.clear();
        }
        (status, value)
    }

    fn handle(&mut self, who: usize, mut steps: i64, stepping: bool) {
        if let Some(more) = &mut self.script(who).cur_steps {
            *more += if stepping { steps } else { 0 };
            return;
        }
        self.script(who).cur_steps = Some(steps);
        let mut jumps = 0;
        while steps >= 0 {
            self.script(who).cur_steps = Some(-1);
            jumps = self.step(who, steps, jumps);
            steps = self.script(who).cur_steps.unwrap_or(-1);
        }
        self.script(who).cur_steps = None;
    }

    fn step(&mut self, who: usize, steps: i64, mut jumps: u32) -> u32 {
        let goal = self.script(who).count + steps;
        while goal >= self.script(who).count
            && self.script(who).pos < self.script(who).insns.len()
            && jumps < MAX_JUMPS
        {
            let at = self.script(who).pos;
            self.script(who).pos += 1;
            self.executed += 1;
            if self.executed >= PATIENCE {
                return jumps + 1;
            }
            match self.execute(who, at, goal) {
                Next::Go => {}
                Next::Done => break,
                Next::Finish => return jumps + 1,
            }
            if self.script(who).pos != at + 1 {
                jumps += 1;
            }
        }
        if jumps >= MAX_JUMPS {
            self.executed = PATIENCE;
            self.stop_waiting(who);
            let script = self.script(who);
            script.pos = script.insns.len();
        }
        jumps + 1
    }

    fn execute(&mut self, who: usize, at: usize, goal: i64) -> Next {
        let now = self.now;
        let script = self.script(who);
        match script.insns[at] {
            Insn::Initial | Insn::Label(_) => {}
            Insn::Increment => script.n += 1,
            Insn::Print(tag) => {
                let Script { n, status, args, r, .. } = script;
                let first = args.split(' ').next().unwrap_or_default();
                let line = format!("{tag} n={n} ?={status} args={args} 1={first} r={r}\n");
                self.printed += &line;
            }
            Insn::Pause(count) => {
                while script.count < goal && script.waited[at] < count {
                    script.waited[at] += 1;
                    script.count += 1;
                }
                if script.count == goal && script.waited[at] < count {
                    script.pos = at;
                    return Next::Done;
                }
            }
            Insn::Wait if script.count == goal => {
                script.pos = at;
                self.wait_until(who, now + SECOND);
                return Next::Done;
            }
            Insn::Wait => {
                script.count += 1;
                self.stop_waiting(who);
            }
            Insn::Return => {
                script.value = script.n.to_string();
                script.pos = at;
                return Next::Done;
            }
            Insn::Goto(_, Condition::Bad) => {}
            Insn::Goto(_, Condition::Below(n)) if script.n >= n.into() => {}
            Insn::Goto(place, _) => match script.label(place) {
                Some(to) => {
                    script.waited.iter_mut().take(at).skip(to).for_each(|w| *w = 0);
                    script.pos = to;
                }
                None => {
                    script.pos = at;
                    return Next::Finish;
                }
            },
            Insn::End | Insn::Exit | Insn::Error(_) => {
                script.pos = at;
                return Next::Finish;
            }
            Insn::Set(call) => {
                let args = self.arguments(who);
                // What can only be written is not called, and what was written stays.
                let value = match call {
                    Call::Run(_) => self.call(call, &args).1,
                    _ => format!("$({})", call.text().replace("$n $#", &args)),
                };
                self.script(who).r = value + "x";
            }
            Insn::Write(Call::Missing) => {}
            Insn::Write(call) => {
                let args = self.arguments(who);
                let status = self.call(call, &args).0;
                self.script(who).status = status;
            }
        }
        Next::Go
    }

    fn arguments(&self, who: usize) -> String {
        let Script { n, args, .. } = &self.scripts[who];
        format!("{n} {}", args.split(' ').filter(|word| !word.is_empty()).count())
    }

    fn wait_until(&mut self, who: usize, expiry: u64) {
        self.script(who).timer = Some(expiry);
        if !self.waiting.contains(&who) {
            self.waiting.push(who);
        }
        // Stable: who was before the other stays there if both wait equally long.
        self.waiting.sort_by_key(|who| self.scripts[*who].timer);
    }

    fn stop_waiting(&mut self, who: usize) {
        self.script(who).timer = None;
        self.waiting.retain(|other| *other != who);
    }

    /// Time passes, and timers expire.
    fn pass(&mut self, time: u64) {
        let end = self.now + time;
        while let Some(&who) = self.waiting.first() {
            let Some(expiry) = self.scripts[who].timer.filter(|t| *t <= end) else { break };
            self.now = expiry;
            self.stop_waiting(who);
            self.step(who, 1, 0);
        }
        self.now = end;
    }
}

/// What follows an instruction.
enum Next {
    Go,
    Done,
    Finish,
}

/// What is done from outside.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Write(Call),
    Read(u8),
    Pass,
}

/// What came of a deed: what was printed, and how a call ended.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    printed: String,
    failed: bool,
    /// Of a reading that reported no errors.
    value: Option<String>,
}

/// What passes at once: no number of them ends when a wait does, so that it does not matter which is first.
const TIME: Duration = Duration::from_millis(2345);

impl World {
    fn act(&mut self, deed: Deed) -> Outcome {
        let (status, value) = match deed {
            Deed::Pass => {
                self.pass(TIME.as_nanos() as u64);
                (0, String::new())
            }
            Deed::Read(who) => self.call(Call::Run(who), "7 8"),
            Deed::Write(call) => self.call(call, "5 6 7"),
        };
        Outcome { printed: std::mem::take(&mut self.printed), failed: status < 0, value: Some(value) }
    }
}

/// The same, done to the elements. Errors on the way of a call that ends well hide its value.
fn act(t: &mut Harness, deed: Deed, expected: &Outcome) -> Outcome {
    let (failed, value) = match deed {
        Deed::Pass => {
            t.run_for(TIME);
            (false, Some(String::new()))
        }
        Deed::Read(who) => match t.router.read(&format!("{}.run", NAMES[usize::from(who)]), "7 8") {
            Ok(value) => (false, Some(value.text())),
            Err(_) => (expected.failed, expected.value.clone()),
        },
        Deed::Write(call) => {
            let refused = t.write(&call.text().replace("$n $#", "5 6 7")).is_err();
            (refused && expected.failed, expected.value.clone())
        }
    };
    Outcome { printed: t.output(), failed, value }
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        5 => (0..2u8).prop_map(Place::Label),
        1 => proptest::sample::select(&[Place::Begin, Place::End, Place::Exit, Place::Error][..]),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (0..2u8).prop_map(Call::Run),
        2 => (0..2u8, -1..4i8).prop_map(|(who, steps)| Call::Step(who, steps)),
        2 => (0..2u8, place()).prop_map(|(who, place)| Call::Goto(who, place)),
        1 => Just(Call::Missing),
    ]
}

fn insn() -> impl Strategy<Value = Insn> {
    let condition = prop_oneof![
        1 => Just(Condition::Always),
        6 => (1..9u8).prop_map(Condition::Below),
        1 => Just(Condition::Bad)
    ];
    prop_oneof![
        3 => (place(), condition).prop_map(|(place, condition)| Insn::Goto(place, condition)),
        5 => Just(Insn::Increment),
        6 => any::<u8>().prop_map(Insn::Print),
        3 => (1..4u32).prop_map(Insn::Pause),
        2 => Just(Insn::Wait),
        1 => proptest::sample::select(&[Insn::Return, Insn::End, Insn::Exit, Insn::Error(true), Insn::Error(false)][..]),
        2 => call().prop_map(Insn::Set),
        3 => call().prop_map(Insn::Write),
    ]
}

/// A program with both labels somewhere.
fn program() -> impl Strategy<Value = Vec<Insn>> {
    (proptest::collection::vec(insn(), 1..9), any::<(u8, u8)>()).prop_map(|(mut insns, (first, second))| {
        for (label, at) in [(0, first), (1, second)] {
            let at = usize::from(at) % (insns.len() + 1);
            insns.insert(at, Insn::Label(label));
        }
        insns
    })
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => call().prop_filter("there is one", |call| *call != Call::Missing).prop_map(Deed::Write),
        2 => (0..2u8).prop_map(Deed::Read),
        2 => Just(Deed::Pass),
    ]
}

fn configuration(programs: &[Vec<Insn>; 2]) -> String {
    let script = |who: usize| {
        let insns: Vec<String> = programs[who].iter().map(|i| i.text()).collect();
        // The variables have values from the start; that is no instruction that runs twice.
        format!("{} :: Script(TYPE PASSIVE, {}, init n 0, init r \"\");\n", NAMES[who], insns.join(", "))
    };
    script(0) + &script(1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn scripts_go_where_the_model_goes(
        programs in [program(), program()],
        deeds in proptest::collection::vec(deed(), 1..8),
    ) {
        let mut model = World::new([&programs[0], &programs[1]]);
        model.scripts.iter_mut().for_each(|script| script.r = "\"\"".into());
        let expected: Vec<Outcome> = deeds.iter().map(|deed| model.act(*deed)).collect();
        prop_assume!(model.executed < PATIENCE);
        let config = configuration(&programs);
        let mut t = Harness::new(&config);
        for (deed, expected) in deeds.iter().zip(&expected) {
            prop_assert_eq!(&act(&mut t, *deed, expected), expected, "{}\n{:?}", &config, deed);
        }
    }
}
