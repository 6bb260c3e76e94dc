//! What conversations are made of.

use std::collections::HashSet;

use aiperf_sdk::Turn;
use serde_json::Value;

use super::{reading, samples};
use crate::{bench::Bench, case::Verdict};

pub(super) fn ids(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    let all = reading::take_all(bench, &found.source(), reading::MANY)?.conversations;
    let mut known = HashSet::new();
    for (index, conversation) in all.iter().enumerate() {
        let id = conversation.id.as_str();
        ensure!(!id.is_empty(), "conversation {index} has no id");
        ensure!(known.insert(id), "the id {id:?} is given to two conversations");
        ensure!(!conversation.turns.is_empty(), "conversation {id:?} has no turn");
    }
    ensure!(
        all.iter().any(|conversation| conversation.root),
        "none of {} conversations is a root, so nothing can start",
        all.len()
    );
    for conversation in &all {
        let (id, turns) = (&conversation.id, conversation.turns.len());
        for branch in &conversation.branches {
            if let Some(child) = branch.children.iter().find(|child| !known.contains(child.as_str())) {
                fail!("conversation {id:?} branches into {child:?}, which doesn't exist");
            }
            for turn in [branch.turn, branch.join_at].into_iter().flatten() {
                ensure!(
                    (turn as usize) < turns,
                    "conversation {id:?} of {turns} turns has a branch at turn {turn}"
                );
            }
            ensure!(
                branch.delays_ms.is_empty() || branch.delays_ms.len() == branch.children.len(),
                "conversation {id:?} has a branch of {} children and {} delays",
                branch.children.len(),
                branch.delays_ms.len()
            );
        }
    }
    Ok(())
}

pub(super) fn turns(bench: &Bench) -> Verdict {
    let found = samples::find(bench)?;
    for conversation in reading::take_all(bench, &found.source(), reading::MANY)?.conversations {
        for (index, turn) in conversation.turns.iter().enumerate() {
            if let Err(problem) = check(turn) {
                fail!("turn {index} of conversation {:?}: {problem}", conversation.id);
            }
        }
    }
    Ok(())
}

fn check(turn: &Turn) -> Result<(), String> {
    let json = |name: &str, text: &Option<String>, fits: fn(&Value) -> bool, shape: &str| {
        let Some(text) = text else { return Ok(()) };
        match serde_json::from_str(text) {
            Ok(value) if fits(&value) => Ok(()),
            Ok(_) => Err(format!("`{name}` is no JSON {shape}: {text}")),
            Err(error) => Err(format!("`{name}` is no JSON: {error}")),
        }
    };
    json("raw_messages", &turn.raw_messages, Value::is_array, "array")?;
    json("raw_tools", &turn.raw_tools, Value::is_array, "array")?;
    json("raw_system", &turn.raw_system, |_| true, "value")?;
    json("raw_payload", &turn.raw_payload, |_| true, "value")?;
    json("extra_body", &turn.extra_body, Value::is_object, "object")?;
    for (name, ms) in [("timestamp_ms", turn.timestamp_ms), ("delay_ms", turn.delay_ms)] {
        if ms.is_some_and(|ms| !ms.is_finite() || ms < 0.0) {
            return Err(format!("`{name}` is {ms:?}"));
        }
    }
    if turn.max_tokens == Some(0) {
        return Err("`max_tokens` is 0".to_owned());
    }
    if let Some((name, value)) = turn.facts.iter().find(|(_, value)| !value.is_finite()) {
        return Err(format!("the fact `{name}` is {value}"));
    }
    let groups = [&turn.texts, &turn.images, &turn.audios, &turn.videos];
    for group in groups.into_iter().flatten() {
        if !group.uuids.is_empty() && group.uuids.len() != group.contents.len() {
            return Err(format!(
                "a group of {} contents has {} uuids",
                group.contents.len(),
                group.uuids.len()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_checked_field_by_field() {
        let text = |text: &str| Some(text.to_owned());
        let good = Turn {
            raw_messages: text("[]"),
            extra_body: text("{}"),
            delay_ms: Some(0.0),
            max_tokens: Some(1),
            ..Turn::text("a")
        };
        assert_eq!(check(&good), Ok(()));
        type Change = fn(&mut Turn);
        let bad: [(Change, &str); 6] = [
            (|turn| turn.raw_messages = Some("{}".to_owned()), "raw_messages"),
            (|turn| turn.extra_body = Some("{".to_owned()), "extra_body"),
            (|turn| turn.delay_ms = Some(-1.0), "delay_ms"),
            (|turn| turn.timestamp_ms = Some(f64::NAN), "timestamp_ms"),
            (|turn| turn.max_tokens = Some(0), "max_tokens"),
            (|turn| turn.facts = vec![("f".to_owned(), f64::INFINITY)], "`f`"),
        ];
        for (change, part) in bad {
            let mut turn = good.clone();
            change(&mut turn);
            let problem = check(&turn).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
    }
}
