//! The examples in the class facts: each must build and run, since the manual shows them.

use crate::testing::Harness;

#[test]
fn every_example_runs() {
    for (name, class) in crate::registry().iter().filter(|(_, class)| !class.example.is_empty()) {
        // Shown if the example fails.
        println!("{name}: {}", class.example);
        Harness::new(class.example).run();
    }
}
