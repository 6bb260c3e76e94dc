//! Ten conversations of one turn, and their order.

use aiperf_sdk::prelude::*;

use crate::behaviour::{Behaviour, Fault, no_text};

pub(crate) struct Hostile {
    behaviour: Behaviour,
    given: u32,
}

impl Hostile {
    pub(crate) fn new(behaviour: Behaviour) -> Self {
        Self { behaviour, given: 0 }
    }
}

impl Dataset for Hostile {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        self.behaviour.enter("probe");
        Ok(Probe {
            accepts: sample.head.starts_with(b"HOSTILE"),
            reason: "it does not begin with HOSTILE".into(),
        })
    }

    fn open(&mut self, _: Box<dyn Source>) -> Result<DatasetInfo> {
        self.behaviour.enter("open_source");
        Ok(DatasetInfo {
            conversations: None,
            context: aiperf_sdk::ContextMode::DeltasWithoutResponses,
            trace: false,
            notes: Vec::new(),
        })
    }

    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        self.behaviour.enter("next");
        let one = |index: u32| Conversation::new(format!("c{index}"), vec![Turn::text(format!("row {index}"))]);
        if self.behaviour.is("too_many") {
            return Ok((0..=count).map(one).collect());
        }
        let batch = count.min(10 - self.given);
        let mut conversations: Vec<Conversation> = (self.given..self.given + batch).map(one).collect();
        self.given += batch;
        let Some(first) = conversations.first_mut() else {
            return Ok(conversations);
        };
        let faults: [Fault<Conversation>; 6] = [
            ("delay_nan", |c| c.turns[0].delay_ms = Some(f64::NAN)),
            ("delay_negative", |c| c.turns[0].delay_ms = Some(-1.0)),
            ("time_infinite", |c| c.turns[0].timestamp_ms = Some(f64::INFINITY)),
            ("fact_nan", |c| c.turns[0].facts.push(("f".into(), f64::NAN))),
            ("no_turns", |c| c.turns.clear()),
            ("no_text", |c| c.id = no_text()),
        ];
        for (fault, change) in faults {
            if self.behaviour.is(fault) {
                change(first);
            }
        }
        Ok(conversations)
    }

    fn order(&self, conversations: u32, _: u32) -> Result<Vec<u32>> {
        self.behaviour.enter("order");
        if self.behaviour.is("outside") {
            return Ok(vec![0, conversations]);
        }
        if self.behaviour.is("empty") {
            return Ok(Vec::new());
        }
        Ok((0..conversations).collect())
    }
}
