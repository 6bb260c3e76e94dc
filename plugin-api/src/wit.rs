//! Between the plain types and those that a WIT binding generator makes from the folder `wit`: the same names, so a field or a
//! case that is in one and not in the other does not compile.
//!
//! The host and the SDK each have generated types of their own; both call [`carry_types!`](crate::carry_types) for them.

/// Moves a value into its other form.
pub trait Carry<To> {
    /// The other form.
    fn carry(self) -> To;
}

macro_rules! as_it_is {
    ($($ty:ty),*) => {$(
        impl Carry<$ty> for $ty {
            fn carry(self) -> $ty {
                self
            }
        }
    )*};
}
as_it_is!(bool, u8, u16, u32, u64, i32, f64, String);

impl<A: Carry<B>, B> Carry<Vec<B>> for Vec<A> {
    fn carry(self) -> Vec<B> {
        // In place where the two have one layout.
        self.into_iter().map(A::carry).collect()
    }
}

impl<A: Carry<B>, B> Carry<Option<B>> for Option<A> {
    fn carry(self) -> Option<B> {
        self.map(A::carry)
    }
}

impl<A: Carry<X>, B: Carry<Y>, X, Y> Carry<(X, Y)> for (A, B) {
    fn carry(self) -> (X, Y) {
        (self.0.carry(), self.1.carry())
    }
}

/// Both directions between the plain types and the generated types of the interface `types`, whose module is in scope as
/// `$wit`.
#[macro_export]
macro_rules! carry_types {
    ($wit:ident) => {
        $crate::carry_types!(@structs $wit
            error::PluginError { kind, message, help }
            entry::Entry { category, name }
            conversation::Media { name, contents, uuids }
            conversation::Turn { role, texts, images, audios, videos, raw_messages, raw_tools, raw_system, raw_payload, extra_body, extra_headers, model, max_tokens, timestamp_ms, delay_ms, after, reset_context, no_request, facts }
            conversation::Branch { turn, children, fork, join_at, at_send, delays_ms }
            conversation::Conversation { id, turns, context, system_message, user_context, branches, root, labels }
            endpoint::EndpointDescription { path, streaming_path, auth, auth_header }
            endpoint::RequestInfo { model, streaming, turns, system_message, user_context, carry, request_id, correlation_id }
            endpoint::Part { name, file_name, content_type, data }
            endpoint::HttpRequest { method, path, headers, body, parts }
            endpoint::Usage { prompt, completion, total, reasoning, cache_read, cache_write, cache_miss, prompt_audio, completion_audio, accepted_prediction, rejected_prediction, tool_use_prompt, prompt_audio_seconds }
            endpoint::Chunks { events, kinds, ends, text }
            endpoint::ResponseError { code, kind, message }
            endpoint::Decoded { chunks, usage, first_chunk_tokens, finish_reason, error, reply, carry, facts, labels }
            dataset::Sample { files, folder, head }
            dataset::Probe { accepts, reason }
            dataset::DatasetInfo { conversations, context, trace, notes }
            timing::DatasetColumns { ends, timestamps_ms, delays_ms, parents }
            timing::TimingPlan { phase, warmup, start_ns, rate, concurrency, prefill_concurrency, requests, sessions, duration_ns, dataset, state }
            timing::Returned { session, turn, last, outcome, at_ns, latency_ns, ttft_ns, tokens }
            metric::MetricSpec { tag, header, short_header, unit, display_unit, kind, population, group, order, flags }
            metric::MetricFamily { needs, derive_needs, metrics }
            metric::Total { count, sum, min, max, value }
            metric::Window { start_ns, end_ns, duration_ns, valid, errors, totals, facts }
            exporter::TableNeeds { table, columns }
            exporter::ExporterNeeds { columns, files, tables }
            exporter::Output { file, order, append, data }
            gpu::Reading { gpu, uuid, model, field, unit, counter, value, host, labels }
            endpoint::HttpAnswer { status, content_type, body }
        );
        $crate::carry_types!(@enums $wit
            error::ErrorKind { Failed, InvalidOptions, InvalidInput, Unsupported, Panicked, Breach }
            entry::Category { Endpoint, Dataset, Timing, Metric, Exporter, GpuCollector }
            conversation::ContextMode { DeltasWithoutResponses, DeltasWithResponses, MessageArrayWithResponses }
            endpoint::AuthKind { Bearer, Header, None }
            endpoint::ChunkKind { Text, Reasoning, ToolCall, Data }
            timing::Outcome { Completed, Failed, Cancelled }
            timing::LimitKind { Sessions, Prefill }
            metric::MetricKind { Record, List, Sum, Min, Max, Derived, Interval, Steps }
            metric::Population { Valid, Errors, All }
            host::LogLevel { Debug, Info, Warning, Error }
            timing::OnFull { Wait, Refuse }
        );
        $crate::carry_types!(@variants $wit);
    };
    (@structs $wit:ident $($module:ident::$name:ident { $($field:ident),* })*) => {$(
        impl $crate::wit::Carry<$wit::$name> for $crate::$module::$name {
            fn carry(self) -> $wit::$name {
                $wit::$name { $($field: $crate::wit::Carry::carry(self.$field)),* }
            }
        }
        impl $crate::wit::Carry<$crate::$module::$name> for $wit::$name {
            fn carry(self) -> $crate::$module::$name {
                $crate::$module::$name { $($field: $crate::wit::Carry::carry(self.$field)),* }
            }
        }
    )*};
    (@enums $wit:ident $($module:ident::$name:ident { $($case:ident),* })*) => {$(
        impl $crate::wit::Carry<$wit::$name> for $crate::$module::$name {
            fn carry(self) -> $wit::$name {
                match self { $(Self::$case => $wit::$name::$case),* }
            }
        }
        impl $crate::wit::Carry<$crate::$module::$name> for $wit::$name {
            fn carry(self) -> $crate::$module::$name {
                match self { $(Self::$case => $crate::$module::$name::$case),* }
            }
        }
    )*};
    (@variants $wit:ident) => {
        impl $crate::wit::Carry<$wit::NextStep> for $crate::endpoint::NextStep {
            fn carry(self) -> $wit::NextStep {
                match self {
                    Self::Done => $wit::NextStep::Done,
                    Self::Request { request, after_ms } => $wit::NextStep::Request($wit::FollowUp {
                        request: $crate::wit::Carry::carry(request),
                        after_ms,
                    }),
                }
            }
        }
        impl $crate::wit::Carry<$crate::endpoint::NextStep> for $wit::NextStep {
            fn carry(self) -> $crate::endpoint::NextStep {
                match self {
                    Self::Done => $crate::endpoint::NextStep::Done,
                    Self::Request(next) => $crate::endpoint::NextStep::Request {
                        request: $crate::wit::Carry::carry(next.request),
                        after_ms: next.after_ms,
                    },
                }
            }
        }
        impl $crate::wit::Carry<$wit::Poll> for $crate::gpu::Poll {
            fn carry(self) -> $wit::Poll {
                match self {
                    Self::Request(request) => $wit::Poll::Request($crate::wit::Carry::carry(request)),
                    Self::Wait(ms) => $wit::Poll::Wait(ms),
                    Self::Readings(readings) => $wit::Poll::Readings($crate::wit::Carry::carry(readings)),
                }
            }
        }
        impl $crate::wit::Carry<$crate::gpu::Poll> for $wit::Poll {
            fn carry(self) -> $crate::gpu::Poll {
                match self {
                    Self::Request(request) => $crate::gpu::Poll::Request($crate::wit::Carry::carry(request)),
                    Self::Wait(ms) => $crate::gpu::Poll::Wait(ms),
                    Self::Readings(readings) => $crate::gpu::Poll::Readings($crate::wit::Carry::carry(readings)),
                }
            }
        }
        impl $crate::wit::Carry<$wit::Event> for $crate::timing::Event {
            fn carry(self) -> $wit::Event {
                match self {
                    Self::Started { session, at_ns, index, turns } => {
                        $wit::Event::Started($wit::Started { session, at_ns, index, turns })
                    }
                    Self::Returned(returned) => $wit::Event::Returned($crate::wit::Carry::carry(returned)),
                    Self::Ready { session, turn, at_ns, delay_ms, timestamp_ms } => {
                        $wit::Event::Ready($wit::Ready { session, turn, at_ns, delay_ms, timestamp_ms })
                    }
                    Self::Refused { session } => $wit::Event::Refused(session),
                    Self::Ended { session, at_ns } => $wit::Event::Ended($wit::Ended { session, at_ns }),
                    Self::Limit { kind, value } => {
                        $wit::Event::Limit($wit::Limit { kind: $crate::wit::Carry::carry(kind), value })
                    }
                    Self::Rate { at_ns, rate } => $wit::Event::Rate($wit::Rate { at_ns, rate }),
                }
            }
        }
        impl $crate::wit::Carry<$crate::timing::Event> for $wit::Event {
            fn carry(self) -> $crate::timing::Event {
                use $crate::timing::Event;
                match self {
                    Self::Started($wit::Started { session, at_ns, index, turns }) => {
                        Event::Started { session, at_ns, index, turns }
                    }
                    Self::Returned(returned) => Event::Returned($crate::wit::Carry::carry(returned)),
                    Self::Ready($wit::Ready { session, turn, at_ns, delay_ms, timestamp_ms }) => {
                        Event::Ready { session, turn, at_ns, delay_ms, timestamp_ms }
                    }
                    Self::Refused(session) => Event::Refused { session },
                    Self::Ended($wit::Ended { session, at_ns }) => Event::Ended { session, at_ns },
                    Self::Limit($wit::Limit { kind, value }) => {
                        Event::Limit { kind: $crate::wit::Carry::carry(kind), value }
                    }
                    Self::Rate($wit::Rate { at_ns, rate }) => Event::Rate { at_ns, rate },
                }
            }
        }
        impl $crate::wit::Carry<$wit::Pick> for $crate::timing::Pick {
            fn carry(self) -> $wit::Pick {
                match self {
                    Self::Next => $wit::Pick::Next,
                    Self::Index(index) => $wit::Pick::Index(index),
                }
            }
        }
        impl $crate::wit::Carry<$crate::timing::Pick> for $wit::Pick {
            fn carry(self) -> $crate::timing::Pick {
                match self {
                    Self::Next => $crate::timing::Pick::Next,
                    Self::Index(index) => $crate::timing::Pick::Index(index),
                }
            }
        }
        impl $crate::wit::Carry<$wit::Action> for $crate::timing::Action {
            fn carry(self) -> $wit::Action {
                match self {
                    Self::Start { session, pick, at_ns, on_full, max_turns, max_tokens, first_turn, tree } => {
                        let (pick, on_full) = ($crate::wit::Carry::carry(pick), $crate::wit::Carry::carry(on_full));
                        let start =
                            $wit::Start { session, pick, at_ns, on_full, max_turns, max_tokens, first_turn, tree };
                        $wit::Action::Start(start)
                    }
                    Self::Continue { session, turn, at_ns } => {
                        $wit::Action::Continue($wit::Continuation { session, turn, at_ns })
                    }
                    Self::Revoke { session } => $wit::Action::Revoke(session),
                    Self::SetLimit { kind, value } => {
                        $wit::Action::SetLimit($wit::NewLimit { kind: $crate::wit::Carry::carry(kind), value })
                    }
                    Self::Note(text) => $wit::Action::Note(text),
                    Self::Done => $wit::Action::Done,
                }
            }
        }
        impl $crate::wit::Carry<$crate::timing::Action> for $wit::Action {
            fn carry(self) -> $crate::timing::Action {
                use $crate::timing::Action;
                match self {
                    Self::Start(start) => {
                        let $wit::Start { session, pick, at_ns, on_full, max_turns, max_tokens, first_turn, tree } =
                            start;
                        let (pick, on_full) = ($crate::wit::Carry::carry(pick), $crate::wit::Carry::carry(on_full));
                        Action::Start { session, pick, at_ns, on_full, max_turns, max_tokens, first_turn, tree }
                    }
                    Self::Continue($wit::Continuation { session, turn, at_ns }) => {
                        Action::Continue { session, turn, at_ns }
                    }
                    Self::Revoke(session) => Action::Revoke { session },
                    Self::SetLimit($wit::NewLimit { kind, value }) => {
                        Action::SetLimit { kind: $crate::wit::Carry::carry(kind), value }
                    }
                    Self::Note(text) => Action::Note(text),
                    Self::Done => Action::Done,
                }
            }
        }
        impl $crate::wit::Carry<$wit::Step> for $crate::timing::Step {
            fn carry(self) -> $wit::Step {
                $wit::Step {
                    actions: $crate::wit::Carry::carry(self.actions),
                    next_wake_ns: self.next_wake_ns,
                }
            }
        }
        impl $crate::wit::Carry<$crate::timing::Step> for $wit::Step {
            fn carry(self) -> $crate::timing::Step {
                $crate::timing::Step {
                    actions: $crate::wit::Carry::carry(self.actions),
                    next_wake_ns: self.next_wake_ns,
                }
            }
        }
        impl $crate::wit::Carry<$wit::Column> for $crate::Column {
            fn carry(self) -> $wit::Column {
                match self {
                    Self::U64 { values, validity } => $wit::Column::U64($wit::Integers { values, validity }),
                    Self::F64 { values, validity } => $wit::Column::F64($wit::Reals { values, validity }),
                    Self::U64List { ends, values, validity } => {
                        $wit::Column::U64List($wit::IntegerLists { ends, values, validity })
                    }
                    Self::F64List { ends, values, validity } => {
                        $wit::Column::F64List($wit::RealLists { ends, values, validity })
                    }
                    Self::Intervals { from, to, weight, validity } => {
                        $wit::Column::Intervals($wit::Intervals { from, to, weight, validity })
                    }
                    Self::Steps { from, ends, gaps, weight, validity } => {
                        $wit::Column::Steps($wit::Steps { from, ends, gaps, weight, validity })
                    }
                }
            }
        }
        impl $crate::wit::Carry<$crate::Column> for $wit::Column {
            fn carry(self) -> $crate::Column {
                use $crate::Column;
                match self {
                    Self::U64($wit::Integers { values, validity }) => Column::U64 { values, validity },
                    Self::F64($wit::Reals { values, validity }) => Column::F64 { values, validity },
                    Self::U64List($wit::IntegerLists { ends, values, validity }) => {
                        Column::U64List { ends, values, validity }
                    }
                    Self::F64List($wit::RealLists { ends, values, validity }) => {
                        Column::F64List { ends, values, validity }
                    }
                    Self::Intervals($wit::Intervals { from, to, weight, validity }) => {
                        Column::Intervals { from, to, weight, validity }
                    }
                    Self::Steps($wit::Steps { from, ends, gaps, weight, validity }) => {
                        Column::Steps { from, ends, gaps, weight, validity }
                    }
                }
            }
        }
    };
}
