//! Vtables, one per category. New methods go to the end, with a default; `last_prefix_field` never moves.

#![allow(
    missing_docs,
    reason = "each method is documented on the plain trait of the same name"
)]

use abi_stable::{
    StableAbi, sabi_trait,
    std_types::{RBox, ROption, RResult, RSlice, RStr, RString, RVec},
};

use super::timing::{FlatEventAbi, FlatStepAbi};
use crate::{
    column::{Column, ColumnRef, Validity},
    conversation::ConversationAbi,
    dataset::{DatasetInfoAbi, ProbeAbi, SampleAbi},
    endpoint::{DecodedAbi, EndpointDescriptionAbi, Exchange, HttpAnswerAbi, HttpRequestAbi, NextStep, RequestInfoAbi},
    error::PluginErrorAbi,
    exporter::{ExporterNeedsAbi, OutputAbi},
    gpu::{Poll, ReadingAbi},
    metric::{MetricFamilyAbi, WindowAbi},
    mirror::{Imported, Mirror},
    timing::TimingPlanAbi,
};

/// Result of a call.
pub type AbiResult<T> = RResult<T, PluginErrorAbi>;

#[sabi_trait]
pub trait HostObject: Send + Sync {
    fn log(&self, level: u8, message: RStr<'_>);
    fn encode(&self, text: RStr<'_>) -> RResult<RVec<u32>, PluginErrorAbi>;
    fn decode(&self, tokens: RSlice<'_, u32>) -> RResult<RString, PluginErrorAbi>;
    fn prompt(&self, stream: RStr<'_>, tokens: u32) -> RResult<RString, PluginErrorAbi>;
    fn seed(&self, stream: RStr<'_>) -> u64;
    fn separator(&self) -> ROption<u32>;
    #[sabi(last_prefix_field)]
    fn intervals(&self, rate: f64, count: u32) -> RResult<RVec<u64>, PluginErrorAbi>;
    fn http(&self, _: RStr<'_>, _: HttpRequestAbi, _: u32) -> RResult<HttpAnswerAbi, PluginErrorAbi> {
        RResult::RErr(crate::PluginError::unsupported("http").into_abi())
    }
    fn api_key(&self) -> RResult<ROption<RString>, PluginErrorAbi> {
        RResult::RErr(crate::PluginError::unsupported("api_key").into_abi())
    }
}

#[sabi_trait]
pub trait SourceObject: Send + Sync {
    fn files(&self) -> RVec<RString>;
    fn file_len(&self, file: u32) -> RResult<u64, PluginErrorAbi>;
    #[sabi(last_prefix_field)]
    fn read(&self, file: u32, offset: u64, length: u32) -> RResult<RVec<u8>, PluginErrorAbi>;
}

#[sabi_trait]
pub trait EndpointObject: Send + Sync {
    fn describe(&self) -> RResult<EndpointDescriptionAbi, PluginErrorAbi>;
    fn prepare(&self, request: RequestInfoAbi) -> RResult<HttpRequestAbi, PluginErrorAbi>;
    fn next_step(&self, exchanges: RSlice<'_, ExchangeAbi<'_>>) -> RResult<NextStepAbi, PluginErrorAbi>;
    #[sabi(last_prefix_field)]
    fn decode(&self, exchanges: RSlice<'_, ExchangeAbi<'_>>) -> RResult<DecodedAbi, PluginErrorAbi>;
}

#[sabi_trait]
pub trait DatasetObject: Send {
    fn probe(&self, sample: SampleAbi) -> RResult<ProbeAbi, PluginErrorAbi>;
    fn open(&mut self, source: SourceBox) -> RResult<DatasetInfoAbi, PluginErrorAbi>;
    fn next_batch(&mut self, count: u32) -> RResult<RVec<ConversationAbi>, PluginErrorAbi>;
    #[sabi(last_prefix_field)]
    fn order(&self, conversations: u32, pass: u32) -> RResult<RVec<u32>, PluginErrorAbi>;
}

#[sabi_trait]
pub trait TimingObject: Send {
    fn start(&mut self, plan: TimingPlanAbi) -> RResult<(), PluginErrorAbi>;
    fn step(&mut self, now_ns: u64, events: RVec<FlatEventAbi>) -> RResult<FlatStepAbi, PluginErrorAbi>;
    fn state(&self) -> RResult<RString, PluginErrorAbi>;
    fn intervals(&mut self, rate: f64, count: u32) -> RResult<RVec<u64>, PluginErrorAbi>;
    #[sabi(last_prefix_field)]
    fn value_at(&self, progress: f64) -> RResult<f64, PluginErrorAbi>;
}

#[sabi_trait]
pub trait MetricObject: Send + Sync {
    fn describe(&self) -> RResult<MetricFamilyAbi, PluginErrorAbi>;
    fn record(&self, len: u32, columns: RSlice<'_, ColumnRefAbi<'_>>) -> RResult<RVec<ColumnAbi>, PluginErrorAbi>;
    #[sabi(last_prefix_field)]
    fn derive(&self, window: WindowAbi) -> RResult<RVec<ROption<f64>>, PluginErrorAbi>;
}

#[sabi_trait]
pub trait ExporterObject: Send {
    fn begin(&mut self, info: RStr<'_>) -> RResult<ExporterNeedsAbi, PluginErrorAbi>;
    fn write(
        &mut self,
        table: RStr<'_>,
        len: u32,
        columns: RSlice<'_, ColumnRefAbi<'_>>,
    ) -> RResult<RVec<OutputAbi>, PluginErrorAbi>;
    #[sabi(last_prefix_field)]
    fn finish(&mut self, report: RStr<'_>) -> RResult<RVec<OutputAbi>, PluginErrorAbi>;
}

#[sabi_trait]
pub trait GpuCollectorObject: Send {
    #[sabi(last_prefix_field)]
    fn poll(&mut self, now_ns: u64, answer: ROption<HttpAnswerAbi>) -> RResult<PollAbi, PluginErrorAbi>;
}

pub type HostBox = HostObject_TO<'static, RBox<()>>;
pub type SourceBox = SourceObject_TO<'static, RBox<()>>;
pub type EndpointBox = EndpointObject_TO<'static, RBox<()>>;
pub type DatasetBox = DatasetObject_TO<'static, RBox<()>>;
pub type TimingBox = TimingObject_TO<'static, RBox<()>>;
pub type MetricBox = MetricObject_TO<'static, RBox<()>>;
pub type ExporterBox = ExporterObject_TO<'static, RBox<()>>;
pub type GpuCollectorBox = GpuCollectorObject_TO<'static, RBox<()>>;

/// [`Exchange`] as it crosses.
#[repr(C)]
#[derive(StableAbi)]
pub struct ExchangeAbi<'a> {
    pub status: u16,
    pub streamed: bool,
    pub content_type: RStr<'a>,
    pub bytes: RSlice<'a, u8>,
    pub ends: RSlice<'a, u32>,
}

impl<'a> From<&Exchange<'a>> for ExchangeAbi<'a> {
    fn from(exchange: &Exchange<'a>) -> Self {
        Self {
            status: exchange.status,
            streamed: exchange.streamed,
            content_type: exchange.content_type.into(),
            bytes: exchange.bytes.into(),
            ends: exchange.ends.into(),
        }
    }
}

impl<'a> From<&ExchangeAbi<'a>> for Exchange<'a> {
    fn from(abi: &ExchangeAbi<'a>) -> Self {
        Self {
            status: abi.status,
            streamed: abi.streamed,
            content_type: abi.content_type.as_str(),
            bytes: abi.bytes.as_slice(),
            ends: abi.ends.as_slice(),
        }
    }
}

/// [`NextStep`] as it crosses: no request means done.
#[repr(C)]
#[derive(StableAbi)]
pub struct NextStepAbi {
    pub request: ROption<HttpRequestAbi>,
    pub after_ms: u64,
}

impl Mirror for NextStep {
    type Abi = NextStepAbi;
    fn into_abi(self) -> NextStepAbi {
        let (request, after_ms) = match self {
            Self::Done => (None, 0),
            Self::Request { request, after_ms } => (Some(request.into_abi()), after_ms),
        };
        NextStepAbi {
            request: request.into(),
            after_ms,
        }
    }
    fn from_abi(abi: NextStepAbi) -> Imported<Self> {
        Ok(match abi.request.into_option() {
            Some(request) => Self::Request {
                request: Mirror::from_abi(request)?,
                after_ms: abi.after_ms,
            },
            None => Self::Done,
        })
    }
}

/// [`Poll`] as it crosses: 0 readings, 1 request, 2 wait.
#[repr(C)]
#[derive(StableAbi)]
pub struct PollAbi {
    pub kind: u8,
    pub request: ROption<HttpRequestAbi>,
    pub wait_ms: u64,
    pub readings: RVec<ReadingAbi>,
}

impl Mirror for Poll {
    type Abi = PollAbi;
    fn into_abi(self) -> PollAbi {
        let (kind, request, wait_ms, readings) = match self {
            Self::Readings(readings) => (0, None, 0, readings),
            Self::Request(request) => (1, Some(request.into_abi()), 0, Vec::new()),
            Self::Wait(ms) => (2, None, ms, Vec::new()),
        };
        PollAbi {
            kind,
            request: request.into(),
            wait_ms,
            readings: readings.into_abi(),
        }
    }
    fn from_abi(abi: PollAbi) -> Imported<Self> {
        Ok(match (abi.kind, abi.request.into_option()) {
            (1, Some(request)) => Self::Request(Mirror::from_abi(request)?),
            (2, _) => Self::Wait(abi.wait_ms),
            _ => Self::Readings(Mirror::from_abi(abi.readings)?),
        })
    }
}

/// [`ColumnRef`] as it crosses: 0 u64, 1 f64, 2 text, 3 u64 list, 4 f64 list, else missing. An empty mask means that every
/// record has a value.
#[repr(C)]
#[derive(StableAbi)]
pub struct ColumnRefAbi<'a> {
    pub kind: u8,
    pub u64s: RSlice<'a, u64>,
    pub f64s: RSlice<'a, f64>,
    pub ends: RSlice<'a, u32>,
    pub text: RStr<'a>,
    pub validity: RSlice<'a, u8>,
}

impl<'a> From<&ColumnRef<'a>> for ColumnRefAbi<'a> {
    fn from(column: &ColumnRef<'a>) -> Self {
        let mut abi = Self {
            kind: u8::MAX,
            u64s: RSlice::EMPTY,
            f64s: RSlice::EMPTY,
            ends: RSlice::EMPTY,
            text: RStr::empty(),
            validity: RSlice::EMPTY,
        };
        let mask = |validity: &Validity<'a>| match validity {
            Validity::All => RSlice::EMPTY,
            Validity::Mask(mask) => RSlice::from_slice(mask),
        };
        match column {
            ColumnRef::U64(values, validity) => {
                (abi.kind, abi.u64s, abi.validity) = (0, (*values).into(), mask(validity));
            }
            ColumnRef::F64(values, validity) => {
                (abi.kind, abi.f64s, abi.validity) = (1, (*values).into(), mask(validity));
            }
            ColumnRef::Text(ends, text, validity) => {
                (abi.kind, abi.ends, abi.text, abi.validity) = (2, (*ends).into(), (*text).into(), mask(validity));
            }
            ColumnRef::U64List(ends, values, validity) => {
                (abi.kind, abi.ends, abi.u64s, abi.validity) = (3, (*ends).into(), (*values).into(), mask(validity));
            }
            ColumnRef::F64List(ends, values, validity) => {
                (abi.kind, abi.ends, abi.f64s, abi.validity) = (4, (*ends).into(), (*values).into(), mask(validity));
            }
            ColumnRef::Missing => {}
        }
        abi
    }
}

impl<'a> From<&ColumnRefAbi<'a>> for ColumnRef<'a> {
    fn from(abi: &ColumnRefAbi<'a>) -> Self {
        let mask = abi.validity.as_slice();
        let validity = if mask.is_empty() {
            Validity::All
        } else {
            Validity::Mask(mask)
        };
        match abi.kind {
            0 => Self::U64(abi.u64s.as_slice(), validity),
            1 => Self::F64(abi.f64s.as_slice(), validity),
            2 => Self::Text(abi.ends.as_slice(), abi.text.as_str(), validity),
            3 => Self::U64List(abi.ends.as_slice(), abi.u64s.as_slice(), validity),
            4 => Self::F64List(abi.ends.as_slice(), abi.f64s.as_slice(), validity),
            _ => Self::Missing,
        }
    }
}

/// [`Column`] as it crosses: 0 u64, 1 f64, 2 u64 list, 3 f64 list, 4 intervals, 5 steps.
#[repr(C)]
#[derive(StableAbi)]
pub struct ColumnAbi {
    pub kind: u8,
    pub u64s: RVec<u64>,
    pub more_u64s: RVec<u64>,
    pub f64s: RVec<f64>,
    pub ends: RVec<u32>,
    pub validity: RVec<u8>,
}

impl Mirror for Column {
    type Abi = ColumnAbi;
    fn into_abi(self) -> ColumnAbi {
        let (kind, u64s, more_u64s, f64s, ends, validity) = match self {
            Self::U64 { values, validity } => (0, values, Vec::new(), Vec::new(), Vec::new(), validity),
            Self::F64 { values, validity } => (1, Vec::new(), Vec::new(), values, Vec::new(), validity),
            Self::U64List { ends, values, validity } => (2, values, Vec::new(), Vec::new(), ends, validity),
            Self::F64List { ends, values, validity } => (3, Vec::new(), Vec::new(), values, ends, validity),
            Self::Intervals {
                from,
                to,
                weight,
                validity,
            } => (4, from, to, weight, Vec::new(), validity),
            Self::Steps {
                from,
                ends,
                gaps,
                weight,
                validity,
            } => (5, from, gaps, weight, ends, validity),
        };
        ColumnAbi {
            kind,
            u64s: u64s.into(),
            more_u64s: more_u64s.into(),
            f64s: f64s.into(),
            ends: ends.into(),
            validity: validity.into(),
        }
    }
    fn from_abi(abi: ColumnAbi) -> Imported<Self> {
        let validity = abi.validity.into_vec();
        Ok(match abi.kind {
            0 => Self::U64 {
                values: abi.u64s.into_vec(),
                validity,
            },
            1 => Self::F64 {
                values: abi.f64s.into_vec(),
                validity,
            },
            2 => Self::U64List {
                ends: abi.ends.into_vec(),
                values: abi.u64s.into_vec(),
                validity,
            },
            3 => Self::F64List {
                ends: abi.ends.into_vec(),
                values: abi.f64s.into_vec(),
                validity,
            },
            4 => Self::Intervals {
                from: abi.u64s.into_vec(),
                to: abi.more_u64s.into_vec(),
                weight: abi.f64s.into_vec(),
                validity,
            },
            _ => Self::Steps {
                from: abi.u64s.into_vec(),
                ends: abi.ends.into_vec(),
                gaps: abi.more_u64s.into_vec(),
                weight: abi.f64s.into_vec(),
                validity,
            },
        })
    }
}
