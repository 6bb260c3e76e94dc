//! Generated conversations: prompts of exact lengths, turn counts and think times from normal distributions.

use std::{collections::HashSet, sync::Arc};

use aiperf_sdk::{
    ContextMode, Conversation, Dataset, Host, PluginError, Result, Source, Turn,
    dataset::{DatasetInfo, Probe, Sample},
};
use rand_chacha::ChaCha8Rng;

use crate::{options::Options, random::stream, session_id::SessionIds};

/// The dataset.
pub(crate) struct Synthetic {
    options: Options,
    host: Arc<dyn Host>,
    ids: SessionIds,
    turn_counts: ChaCha8Rng,
    lengths: ChaCha8Rng,
    limits: ChaCha8Rng,
    delays: ChaCha8Rng,
    made: u32,
}

impl Synthetic {
    /// A dataset with its options.
    pub(crate) fn new(options: Options, host: Arc<dyn Host>) -> Result<Self> {
        if options.isl.mean <= 0.0 {
            return Err(
                PluginError::options("options of `synthetic`: `isl.mean` must be above 0")
                    .with_help("prompts are all that this dataset makes; give them a length"),
            );
        }
        Ok(Self {
            ids: SessionIds::new(options.seeded, &*host),
            turn_counts: stream(&*host, "composer.conversation.turn_count"),
            lengths: stream(&*host, "dataset.prompt.length"),
            limits: stream(&*host, "composer.turn.max_tokens"),
            delays: stream(&*host, "composer.conversation.turn_delay"),
            options,
            host,
            made: 0,
        })
    }

    fn conversation(&mut self) -> Result<Conversation> {
        let id = self.ids.next(&HashSet::new());
        let count = self.options.turns.sample(&mut self.turn_counts);
        let turns = (0..count).map(|index| self.turn(index)).collect::<Result<_>>()?;
        Ok(Conversation::new(id, turns))
    }

    fn turn(&mut self, index: u32) -> Result<Turn> {
        let tokens = self.options.isl.sample(&mut self.lengths);
        let mut turn = Turn::text(self.host.prompt("dataset.prompt.corpus", tokens)?);
        turn.max_tokens = self.options.osl.map(|osl| osl.sample(&mut self.limits));
        if index > 0 && self.options.turn_delay_ms.mean > 0.0 {
            let delay = self.options.turn_delay_ms.sample(&mut self.delays);
            turn.delay_ms = Some(f64::from(delay) * self.options.turn_delay_ratio);
        }
        Ok(turn)
    }
}

impl Dataset for Synthetic {
    fn probe(&self, _: &Sample) -> Result<Probe> {
        Ok(Probe {
            accepts: false,
            reason: "synthetic data is generated, not read".to_owned(),
        })
    }

    fn open(&mut self, _: Box<dyn Source>) -> Result<DatasetInfo> {
        Ok(DatasetInfo {
            conversations: Some(self.options.entries.into()),
            context: ContextMode::DeltasWithoutResponses,
            trace: false,
            notes: Vec::new(),
        })
    }

    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        let count = count.min(self.options.entries - self.made);
        self.made += count;
        (0..count).map(|_| self.conversation()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{dataset, dataset_with, take_all};
    use aiperf_sdk::{ErrorKind, Package, dataset::NoSource};

    fn generate(options: &str) -> Vec<Conversation> {
        let mut dataset = dataset("synthetic", options).unwrap();
        let info = dataset.open(Box::new(NoSource)).unwrap();
        let all = take_all(&mut *dataset).unwrap();
        assert_eq!(info.conversations, Some(all.len() as u64));
        all
    }

    fn words(turn: &Turn) -> usize {
        turn.texts[0].contents[0].split(' ').count()
    }

    #[test]
    fn the_defaults_are_a_hundred_prompts_of_550_tokens_without_a_limit() {
        let all = generate("{}");
        assert_eq!(all.len(), 100);
        assert_eq!(
            (all[0].id.as_str(), all[99].id.as_str()),
            ("session_000000", "session_000099")
        );
        for conversation in &all {
            let [turn] = conversation.turns.as_slice() else {
                panic!("one turn each");
            };
            assert_eq!(words(turn), 550);
            assert_eq!((turn.max_tokens, turn.delay_ms), (None, None));
            assert!(conversation.root);
        }
    }

    #[test]
    fn limits_turns_and_think_times_follow_the_options() {
        let all = generate(
            r#"{"entries":2,"isl":{"mean":7},"osl":{"mean":3},"turns":{"mean":3},
                "turn_delay_ms":{"mean":100},"turn_delay_ratio":0.5}"#,
        );
        assert_eq!(all.len(), 2);
        for conversation in &all {
            let delays: Vec<_> = conversation.turns.iter().map(|turn| turn.delay_ms).collect();
            assert_eq!(delays, [None, Some(50.0), Some(50.0)]);
            assert!(
                conversation
                    .turns
                    .iter()
                    .all(|turn| turn.max_tokens == Some(3) && words(turn) == 7)
            );
        }
    }

    #[test]
    fn deviations_vary_each_quantity_and_one_never_moves_another() {
        let options = |rest: &str| format!(r#"{{"entries":50,"isl":{{"mean":20,"stddev":5}}{rest}}}"#);
        let lengths = |all: &[Conversation]| all.iter().map(|c| words(&c.turns[0])).collect::<Vec<_>>();
        let plain = generate(&options(""));
        assert!(lengths(&plain).iter().any(|&length| length != lengths(&plain)[0]));
        let with_limits = generate(&options(r#","osl":{"mean":9,"stddev":4}"#));
        assert_eq!(lengths(&plain), lengths(&with_limits));
        let limits: Vec<_> = with_limits.iter().filter_map(|c| c.turns[0].max_tokens).collect();
        assert!(limits.len() == 50 && limits.iter().any(|&limit| limit != limits[0]));
    }

    #[test]
    fn the_same_seed_gives_the_same_data() {
        let options = r#"{"entries":9,"isl":{"mean":20,"stddev":5},"turns":{"mean":2,"stddev":1},"seeded":false}"#;
        assert_eq!(generate(options), generate(options));
    }

    #[test]
    fn bad_options_are_refused_by_name() {
        for (options, part) in [
            (r#"{"isl":{"mean":0}}"#, "`isl.mean` must be above 0"),
            (r#"{"isl":{"mean":-1}}"#, "`isl.mean` must lie between 0"),
            (r#"{"osl":{"mean":1,"stddev":-2}}"#, "`osl.stddev` must lie between 0"),
            (r#"{"turn_delay_ratio":-1}"#, "`turn_delay_ratio` must lie between 0"),
        ] {
            let error = dataset("synthetic", options).err().unwrap();
            assert!(error.message.contains(part), "{options}: {error}");
        }
        for entry in crate::BuiltIn::entries() {
            // What the core passes is no option of the user's.
            for option in ["no_such_option", "entries", "seeded"] {
                let options = format!(r#"{{"{option}":3}}"#);
                let error = dataset_with(&entry.name, &options, "").err().unwrap();
                assert_eq!(error.kind, ErrorKind::InvalidOptions);
                assert!(
                    error.message.contains(&format!("`{option}`")),
                    "{}: {error}",
                    entry.name
                );
            }
            // A newer core may pass more.
            assert!(dataset(&entry.name, r#"{"later":1}"#).is_ok(), "{}", entry.name);
        }
    }
}
