//! Mutates the corpus of each target for a while. See the README of this folder.

#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aiperf_fuzz::corpus;
use aiperf_fuzz::mutate::{Random, mutate};
use aiperf_fuzz::targets::{ALL, Fuzz};

/// An input that takes longer is one to look at.
const SLOW: Duration = Duration::from_secs(10);

struct Arguments {
    seconds: f64,
    seed: u64,
    target: Option<String>,
    keep: bool,
}

fn arguments() -> Result<Arguments, String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut found = Arguments {
        seconds: 60.0,
        seed: since.as_secs(),
        target: None,
        keep: false,
    };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{name} needs a value"));
        match name.as_str() {
            "--seconds" => found.seconds = value()?.parse().map_err(|error| format!("--seconds: {error}"))?,
            "--seed" => found.seed = value()?.parse().map_err(|error| format!("--seed: {error}"))?,
            "--target" => found.target = Some(value()?),
            "--keep" => found.keep = true,
            _ => {
                return Err(format!(
                    "{name} is unknown; known are --seconds, --seed, --target, --keep"
                ));
            }
        }
    }
    Ok(found)
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let chosen = |fuzz: &&Fuzz| arguments.target.as_ref().is_none_or(|name| name == fuzz.name);
    let targets: Vec<_> = ALL.iter().filter(chosen).collect();
    if targets.is_empty() {
        let names: Vec<_> = ALL.iter().map(|fuzz| fuzz.name).collect();
        eprintln!("there is no such target; there are {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    println!("seed {}", arguments.seed);
    let share = Duration::from_secs_f64(arguments.seconds.max(0.0) / targets.len() as f64);
    let mut found = false;
    for fuzz in targets {
        found |= !explore(fuzz, share, &arguments);
    }
    if found { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether the target stood its share of time.
fn explore(fuzz: &Fuzz, share: Duration, arguments: &Arguments) -> bool {
    let mut random = Random::new(arguments.seed);
    let inputs: Vec<_> = corpus::inputs(fuzz.name).into_iter().map(|(_, bytes)| bytes).collect();
    let folder = corpus::folder(fuzz.name);
    let start = Instant::now();
    let mut tried = 0u64;
    while start.elapsed() < share {
        let input = mutate(&mut random, &inputs, fuzz.words);
        if arguments.keep
            && let Err(error) = std::fs::write(folder.join("last"), &input)
        {
            eprintln!("{}: {error}", folder.display());
        }
        let before = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| (fuzz.run)(&input)));
        tried += 1;
        let slow = before.elapsed() > SLOW;
        if outcome.is_err() || slow {
            let path = folder.join(format!("found-{:016x}", fingerprint(&input)));
            match std::fs::write(&path, &input) {
                Ok(()) => eprintln!(
                    "{}: {} after {tried} inputs",
                    path.display(),
                    if slow { "slow" } else { "panic" }
                ),
                Err(error) => eprintln!("{}: {error}", path.display()),
            }
            return false;
        }
    }
    println!("{}: {tried} inputs", fuzz.name);
    true
}

/// Names an input (FNV-1a).
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
