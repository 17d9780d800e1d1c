//! Tests of active queue management with sources that react to losses as TCP does, in simulated time.

use crate::testing::Harness;
use clickwork_packet::{Batch, Packet, Timestamp, anno};
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};
use std::time::Duration;

/// A source with a window of packets, halved when a packet is lost and opened when packets come back (RFC 5681, without
/// retransmission). Packets have 1000 bytes, the last four of which are their number. What comes in has been delivered.
static RESPONSIVE: Class = Class {
    ports: "1/1",
    processing: "h/h",
    flow: "x/y",
    ..Class::new("Responsive", "testing", || {
        Box::new(Responsive { window: 2.0, slow_start: true, ..Responsive::default() })
    })
};

const LENGTH: usize = 1000;
const TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Responsive {
    window: f64,
    slow_start: bool,
    next: u32,
    /// All packets up to this number have been delivered or lost.
    known: u32,
    /// The window has been halved for losses up to this number.
    recovered: u32,
}

impl Responsive {
    fn send(&mut self, cx: &mut Cx<'_>) {
        while f64::from(self.next - self.known) < self.window {
            self.next += 1;
            let mut bytes = vec![0; LENGTH];
            bytes[LENGTH - 4..].copy_from_slice(&self.next.to_be_bytes());
            cx.emit(0, Packet::with_room(64, &bytes, 0));
        }
        cx.schedule_timer_after(0, TIMEOUT);
    }

    fn delivered(&mut self, number: u32) {
        let lost = number > self.known + 1;
        self.known = self.known.max(number);
        if lost && number > self.recovered {
            (self.window, self.slow_start) = ((self.window / 2.0).max(1.0), false);
            self.recovered = self.next;
        } else {
            self.window += if self.slow_start { 1.0 } else { 1.0 / self.window };
        }
    }
}

impl Element for Responsive {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.schedule_timer_after(0, Duration::from_millis(1));
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.take() {
            if let Some(number) = p.data().last_chunk() {
                self.delivered(u32::from_be_bytes(*number));
            }
        }
        self.send(cx);
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        (self.known, self.window, self.slow_start) = (self.next, 2.0, true);
        self.send(cx);
    }
}

/// Measures how long packets have been on their way since their first timestamp.
static STOPWATCH: Class = Class {
    handlers: &[
        read_handler!("mean", "mean time in milliseconds", |e: &mut Stopwatch, _| {
            e.times.iter().sum::<f64>() / e.times.len() as f64
        }),
        read_handler!("median", "median time in milliseconds", |e: &mut Stopwatch, _| e.quantile(0.5)),
        read_handler!("max", "longest time in milliseconds", |e: &mut Stopwatch, _| e.quantile(1.0)),
        read_handler!("count", "packets", |e: &mut Stopwatch, _| e.times.len()),
        write_handler!("reset", "forgets them", |e: &mut Stopwatch, _, _| e.times.clear()),
    ],
    ..Class::new("Stopwatch", "testing", || Box::<Stopwatch>::default())
};

#[derive(Default)]
struct Stopwatch {
    times: Vec<f64>,
}

impl Stopwatch {
    fn quantile(&mut self, q: f64) -> f64 {
        self.times.sort_by(f64::total_cmp);
        self.times[((self.times.len() - 1) as f64 * q) as usize]
    }
}

impl SimpleElement for Stopwatch {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let stamp = i64::from_ne_bytes(p.anno_bytes(anno::FIRST_TIMESTAMP).try_into().expect("eight bytes"));
        self.times.push((cx.now() - Timestamp::from_nanos(stamp)).as_secs_f64() * 1000.0);
        Verdict::PASS
    }
}

/// Four responsive flows and what else `others` sends to `join`, over a link of 10 Mbit/s that takes 40 ms both ways, behind
/// `queue`. Packets of flow 9000 are timed apart.
fn shared_link(queue: &str, others: &str) -> Harness {
    let flow = |i: i32| {
        format!(
            "r{i} :: Responsive -> UDPIPEncap(1.0.0.1, {i}, 2.0.0.2, 2) -> join; back[{i}] -> StripIPHeader -> r{i};\n"
        )
    };
    let flows: String = (0..4).map(flow).collect();
    let config = format!(
        "join :: Null -> SetTimestamp(FIRST true) -> {queue} -> all :: Stopwatch -> link :: LinkUnqueue(40ms, 10Mbps)
            -> back :: IPClassifier(src port 0, src port 1, src port 2, src port 3, src port 9000, -);
         {flows} {others}
         back[4] -> apart :: Stopwatch -> Discard; back[5] -> Discard;"
    );
    Harness::with(&[&RESPONSIVE, &STOPWATCH], &config)
}

/// Milliseconds that the median packet waits in the queue, and how busy the link is, after half a minute.
fn wait_and_use(queue: &str) -> (f64, f64) {
    let mut t = shared_link(queue, "");
    t.run_for(Duration::from_secs(30));
    t.write("all.reset").unwrap();
    t.run_for(Duration::from_secs(30));
    let sent: f64 = t.read("all.count").parse().unwrap();
    let median: f64 = t.read("all.median").parse().unwrap();
    let busy = sent * 1028.0 * 8.0 / 10e6 / 30.0;
    println!(
        "{queue}: the median packet waits for {median:.1} ms, the link is used to {:.1} %",
        100.0 * busy
    );
    (median, busy)
}

#[test]
fn codel_keeps_the_standing_queue_near_its_target() {
    let (wait, busy) = wait_and_use("Queue(1000) -> CoDel");
    assert!((1.0..12.0).contains(&wait) && busy > 0.9, "{wait} ms, {busy}");
    let (wait, busy) = wait_and_use("Queue(1000) -> CoDel(TARGET 20ms)");
    assert!((10.0..35.0).contains(&wait) && busy > 0.95, "{wait} ms, {busy}");
    // Without it the queue is never empty.
    let (wait, _) = wait_and_use("Queue(1000)");
    assert!(wait > 300.0, "{wait} ms");
}

#[test]
fn pie_keeps_the_delay_near_its_target() {
    let (wait, busy) = wait_and_use("PIE(1000)");
    assert!((8.0..22.0).contains(&wait) && busy > 0.95, "{wait} ms, {busy}");
    let (wait, busy) = wait_and_use("PIE(1000, TARGET 50ms)");
    assert!((30.0..70.0).contains(&wait) && busy > 0.95, "{wait} ms, {busy}");
}

#[test]
fn red_keeps_the_queue_between_its_thresholds() {
    // Between 20 and 60 packets of 0.82 ms.
    let (wait, busy) = wait_and_use("RED(20, 60, 0.1, STABILITY 9) -> Queue(1000)");
    assert!((15.0..50.0).contains(&wait) && busy > 0.95, "{wait} ms, {busy}");
}

#[test]
fn fq_codel_isolates_a_sparse_flow() {
    // A call of 50 packets a second besides the four flows, and besides a flood of twice what the link takes.
    let call = "RatedSource(LENGTH 160, RATE 50) -> UDPIPEncap(1.0.0.1, 9000, 2.0.0.2, 2) -> join;";
    let flood = "RatedSource(LENGTH 1000, RATE 2500) -> UDPIPEncap(1.0.0.1, 77, 2.0.0.2, 2) -> join;";
    let mut results = Vec::new();
    for (queue, others) in [
        ("FQCoDel", call.to_string()),
        ("FQCoDel", call.to_string() + flood),
        ("Queue(1000) -> CoDel", call.to_string() + flood),
        ("Queue(1000)", call.to_string()),
    ] {
        let mut t = shared_link(queue, &others);
        t.run_for(Duration::from_secs(10));
        t.write("apart.reset").unwrap();
        t.run_for(Duration::from_secs(20));
        // The link itself takes 40 ms, and 0.15 ms to send.
        let number = |t: &mut Harness, name: &str| t.read(name).parse::<f64>().unwrap();
        results.push((
            number(&mut t, "apart.mean") - 40.15,
            number(&mut t, "apart.max") - 40.15,
            number(&mut t, "apart.count"),
        ));
    }
    println!("mean and longest wait of a sparse flow, packets: {results:.2?}");
    let [alone, flooded, one_queue, no_management] = results[..] else { unreachable!() };
    // It waits for the packet that is being sent, seldom for another that is new, and loses nothing.
    assert!(alone.0 < 1.0 && alone.1 < 5.0 && alone.2 >= 999.0, "{results:?}");
    assert!(flooded.0 < 1.0 && flooded.1 < 5.0 && flooded.2 >= 999.0, "{results:?}");
    assert!(one_queue.0 > 20.0 && no_management.0 > 300.0, "{results:?}");
}
