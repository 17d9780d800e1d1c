//! A laboratory: a router in a network namespace, between two kernel hosts in namespaces of their own.
//!
//! The interfaces of the router are `r0` and `r1`, those of the hosts `h0` and `h1`, with the addresses 02:00:00:00:00:R0, R1,
//! A0 and A1. Everything goes away with the threads, however a test ends.

use crate::support::{ip, run, thread_number, unshare_network};
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_router::{Driver, Log, Options, Router, build};
use clickwork_source::{Sources, render_click};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Builds a configuration of the library's elements in real time.
pub fn router(config: &str, ordered: bool) -> Result<Router, String> {
    router_with(config, &[], ordered)
}

/// The same, with values for its variables.
pub fn router_with(config: &str, defines: &[(&str, &str)], ordered: bool) -> Result<Router, String> {
    let registry = Arc::new(clickwork_elements::registry());
    let mut sources = Sources::default();
    let file = sources.add("config", config);
    let defines = defines.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let options = LangOptions { defines, ..LangOptions::new(&*registry) };
    let (graph, diagnostics) = elaborate(&mut sources, file, &options);
    let render =
        |d: &clickwork_source::Diagnostics| d.iter().map(|d| render_click(&sources, d)).collect::<String>();
    if diagnostics.has_errors() {
        return Err(render(&diagnostics));
    }
    let options = Options { ordered, log: Log::buffer(), seed: Some(1), ..Options::default() };
    build(&graph, &sources, &registry, options).map(|(router, _)| router).map_err(|d| render(&d))
}

/// How long anything may take before it counts as hanging.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The text of a read handler.
pub fn read(router: &mut Router, handler: &str) -> String {
    router.read(handler, "").map_or_else(|e| e.to_string(), |v| v.text())
}

/// Runs the router until `done` says so.
pub fn route_until(router: &mut Router, what: &str, mut done: impl FnMut(&mut Router) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    let mut driver = Driver::default();
    while !done(router) {
        assert!(Instant::now() < deadline, "waited in vain: {what}; {}", router.log().taken());
        driver.run_for(router, Duration::from_millis(1));
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// A kernel host. What it is given to do, it does in order.
pub struct Host {
    jobs: Sender<Job>,
    thread: i32,
}

impl Host {
    /// A host without interfaces.
    pub fn new() -> Host {
        let (jobs, given) = mpsc::channel::<Job>();
        let (ready, started) = mpsc::channel();
        thread::spawn(move || {
            unshare_network().expect("permitted to the router's thread, and so to this");
            ready.send(thread_number()).expect("the test waits for it");
            given.into_iter().for_each(|job| job());
        });
        Host { jobs, thread: started.recv().expect("the thread starts") }
    }

    /// Gives it an interface of the calling thread's namespace.
    pub fn take_interface(&self, name: &str) {
        ip(&format!("link set {name} netns {}", self.thread));
    }

    /// Begins to do something; what it returns comes out of the channel.
    pub fn start<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
        let (result, receiver) = mpsc::channel();
        // If the test has ended, nobody wants the result.
        self.jobs.send(Box::new(move || drop(result.send(job())))).expect("no job has failed");
        receiver
    }

    /// Does something that needs no router.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.start(job).recv().expect("the job succeeds");
    }
}

/// An example of the repository.
pub fn example(name: &str) -> String {
    let file = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(file).expect("the example is there")
}

/// Makes the two hosts, with one address each, and the interfaces of the calling thread's namespace.
pub fn two_hosts(addresses: [&'static str; 2]) -> [Host; 2] {
    connected(move |n| {
        no_ipv6();
        ip("link set lo up");
        ip(&format!("addr add {} dev h{n}", addresses[n]));
        ip(&format!("link set h{n} up"));
    })
}

/// The same with IPv6 addresses, and a default route each.
pub fn two_ipv6_hosts(addresses: [&'static str; 2], gateways: [&'static str; 2]) -> [Host; 2] {
    connected(move |n| {
        ip("link set lo up");
        ip(&format!("addr add {} dev h{n} nodad", addresses[n]));
        ip(&format!("link set h{n} up"));
        ip(&format!("-6 route add default via {} dev h{n}", gateways[n]));
    })
}

/// A host with an IPv6 address, and routes by a gateway to some others, and one with an IPv4 address.
pub fn an_ipv6_and_an_ipv4_host(
    address6: &'static str,
    route: &'static str,
    address4: &'static str,
) -> [Host; 2] {
    connected(move |n| {
        ip("link set lo up");
        match n {
            0 => ip(&format!("addr add {address6} dev h0 nodad")),
            _ => ip(&format!("addr add {address4} dev h1")),
        }
        ip(&format!("link set h{n} up"));
        if n == 0 {
            ip(&format!("-6 route add {route} dev h0"));
        }
    })
}

/// The router's kernel, or a host's, is silent in IPv6.
fn no_ipv6() {
    run("sysctl", "-qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
}

/// Makes two hosts and the cables to them. Each is set up, knowing its number.
fn connected(set_up: impl Fn(usize) + Clone + Send + 'static) -> [Host; 2] {
    no_ipv6();
    let hosts = [Host::new(), Host::new()];
    for (n, host) in hosts.iter().enumerate() {
        ip(&format!(
            "link add r{n} address 02:00:00:00:00:{n}0 type veth peer name h{n} address 02:00:00:00:00:a{n}"
        ));
        ip(&format!("link set h{n} netns {}", host.thread));
        ip(&format!("link set r{n} up"));
        let set_up = set_up.clone();
        host.run(move || set_up(n));
    }
    hosts
}

/// Runs the router until a host has done its job.
pub fn route_until_done<T>(router: &mut Router, what: &str, job: &Receiver<T>) -> T {
    let mut result = None;
    route_until(router, what, |_| {
        result = result.take().or_else(|| job.try_recv().ok());
        result.is_some()
    });
    result.expect("it is there, or the wait has failed")
}
