//! Conversations: what datasets produce and endpoints send.

contract_enum! {
    /// What turn *n* of a conversation sends (datasets-and-endpoints: context mode).
    pub enum ContextMode: u8 {
        /// Turns 1 to n and the live answers in between.
        DeltasWithoutResponses = 0,
        /// Turns 1 to n as authored; the answers are in the dataset.
        DeltasWithResponses = 1,
        /// Turn n alone: it is complete.
        MessageArrayWithResponses = 2,
    } else DeltasWithoutResponses
}

contract! {
    /// A group of texts or media of one turn; a name (`query`, `passages`) tells endpoints with several inputs apart.
    #[derive(Default)]
    pub struct Media / MediaAbi {
        /// Name of the group; empty for the usual one.
        pub name: String,
        /// Texts; or URLs, data URLs, `format,base64` for media.
        pub contents: Vec<String>,
        /// Identities of the contents, where the author gave them; empty or as long as `contents`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub uuids: Vec<String>,
    }

    /// One turn. Its payload is, in this order of precedence: `raw_payload` (the whole body, sent as it is), `raw_messages`
    /// (a message list made by the author), the structured texts and media.
    #[derive(Default)]
    pub struct Turn / TurnAbi {
        /// Role of the message; empty means `user`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub role: String,
        /// Texts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub texts: Vec<Media>,
        /// Images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub images: Vec<Media>,
        /// Audio clips.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub audios: Vec<Media>,
        /// Videos.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub videos: Vec<Media>,
        /// JSON array of messages, spliced in as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub raw_messages: Option<String>,
        /// JSON array of tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub raw_tools: Option<String>,
        /// JSON of a system prompt in the endpoint's own shape.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub raw_system: Option<String>,
        /// JSON of the whole request body; nothing is added to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub raw_payload: Option<String>,
        /// JSON object merged over the body's top level.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub extra_body: Option<String>,
        /// Headers of this request alone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub extra_headers: Vec<(String, String)>,
        /// Model of this turn; else the configured ones take turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// Limit on output tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_tokens: Option<u32>,
        /// When the turn was recorded, in ms of the dataset's own clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub timestamp_ms: Option<f64>,
        /// Think time before this turn, in ms after the previous return.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub delay_ms: Option<f64>,
        /// Turns of other conversations of the same tree (id, turn) that must have returned before this one is sent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub after: Vec<(String, u32)>,
        /// Throws away the messages of earlier turns.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub reset_context: bool,
        /// The turn is only a join point; it sends nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub no_request: bool,
        /// Known facts about the turn: for metrics (`audio_duration_seconds`, `hash_blocks`), and how its delay is drawn for
        /// each instance (`delay_sigma`, `delay_min_ms`, `delay_max_ms`: log-normal around `delay_ms`).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub facts: Vec<(String, f64)>,
    }

    /// Children that a turn starts.
    pub struct Branch / BranchAbi {
        /// Turn that starts them, once it has returned; `None` starts them before turn 0.
        pub turn: Option<u32>,
        /// Ids of the conversations started.
        pub children: Vec<String>,
        /// Children begin with the parent's turns so far (fork), else with nothing (spawn).
        pub fork: bool,
        /// The parent waits for them before this turn; `None` never waits.
        pub join_at: Option<u32>,
        /// They start with the turn's request instead of its return.
        #[serde(default)]
        pub at_send: bool,
        /// Offsets of the children in ms from the start of the branch; empty starts them at once.
        pub delays_ms: Vec<f64>,
    }

    /// A conversation.
    pub struct Conversation / ConversationAbi {
        /// Identity within the dataset.
        pub id: String,
        /// Turns in order; at least one.
        pub turns: Vec<Turn>,
        /// What a turn sends.
        pub context: ContextMode,
        /// System message, sent first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub system_message: Option<String>,
        /// A user message right behind the system message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub user_context: Option<String>,
        /// Children.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub branches: Vec<Branch>,
        /// A root is sampled; others are reached through branches.
        pub root: bool,
        /// Named texts that travel with the records (`source_trace_id`, ground truth).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub labels: Vec<(String, String)>,
    }
}

impl Media {
    /// An unnamed group of one.
    pub fn one(content: impl Into<String>) -> Self {
        Self {
            name: String::new(),
            contents: vec![content.into()],
            uuids: Vec::new(),
        }
    }
}

impl Turn {
    /// A user turn of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            texts: vec![Media::one(text)],
            ..Self::default()
        }
    }

    /// The turn's role, `user` unless it says otherwise.
    pub fn role(&self) -> &str {
        if self.role.is_empty() { "user" } else { &self.role }
    }
}

impl Conversation {
    /// A root conversation with live history.
    pub fn new(id: impl Into<String>, turns: Vec<Turn>) -> Self {
        Self {
            id: id.into(),
            turns,
            context: ContextMode::DeltasWithoutResponses,
            system_message: None,
            user_context: None,
            branches: Vec::new(),
            root: true,
            labels: Vec::new(),
        }
    }
}
