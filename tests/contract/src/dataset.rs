//! A dataset that reads its source in pieces, and a sampler.

use aiperf_sdk::{
    Conversation, Dataset, PluginError, Probe, Result, Source, Turn,
    conversation::{Branch, ContextMode},
    dataset::{DatasetInfo, Sample},
};

/// Bytes per read; small, so that lines span several.
const PIECE: u32 = 5;

/// One conversation per line; `a>b` is a conversation `a` that starts `b`.
#[derive(Default)]
pub struct Lines {
    source: Option<Box<dyn Source>>,
    offset: u64,
    buffer: Vec<u8>,
    line: u32,
}

impl Lines {
    fn next_line(&mut self) -> Result<Option<String>> {
        let source = self.source.as_ref().ok_or_else(|| PluginError::failed("not open"))?;
        loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line[..end]).into_owned();
                return Ok(Some(text));
            }
            let piece = source.read(0, self.offset, PIECE)?;
            if piece.is_empty() {
                return Ok(None);
            }
            self.offset += piece.len() as u64;
            self.buffer.extend(piece);
        }
    }
}

impl Dataset for Lines {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        let accepts = !sample.folder && sample.files.iter().all(|file| file.ends_with(".lines"));
        Ok(Probe {
            accepts,
            reason: format!("{} bytes seen", sample.head.len()),
        })
    }

    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        let length = source.len(0)?;
        let notes = vec![format!("{} of {length} bytes", source.files().join(","))];
        self.source = Some(source);
        Ok(DatasetInfo {
            conversations: None,
            context: ContextMode::MessageArrayWithResponses,
            trace: true,
            notes,
        })
    }

    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        let mut conversations = Vec::new();
        while conversations.len() < count as usize {
            let Some(line) = self.next_line()? else { break };
            self.line += 1;
            if line.is_empty() {
                return Err(PluginError::input(format!("line {} is empty", self.line)));
            }
            let (id, child) = line.split_once('>').unwrap_or((&line, ""));
            let mut conversation = Conversation::new(id, vec![Turn::text(id), Turn::text("more")]);
            if !child.is_empty() {
                conversation.branches.push(Branch {
                    turn: Some(0),
                    children: vec![child.to_owned()],
                    fork: true,
                    join_at: Some(1),
                    at_send: true,
                    delays_ms: vec![1.5],
                });
            }
            conversations.push(conversation);
        }
        Ok(conversations)
    }
}

/// From the last to the first.
pub struct Reversed;

impl Dataset for Reversed {
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        let mut order: Vec<u32> = (0..conversations).rev().collect();
        order.rotate_left(pass as usize % conversations.max(1) as usize);
        Ok(order)
    }
}
