//! Starting and stopping.

use std::fs::File;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use mio::Waker;
use rustix::process::{Resource, getrlimit, setrlimit};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use socket2::{Domain, Socket, Type};

use crate::error::Error;
use crate::event_loop::EventLoop;
use crate::log::{Log, write_blocks};
use crate::service::Service;
use crate::settings::Settings;

/// Connections the system keeps until they are accepted; it lowers this to its own limit.
const BACKLOG: i32 = 65_535;
/// Blocks of log between a serving thread and the disk.
const LOG_BLOCKS: usize = 256;

/// A server on threads of this process. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub addr: SocketAddr,
    stop: Arc<AtomicBool>,
    wakers: Vec<Waker>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    log: Option<(PathBuf, JoinHandle<io::Result<()>>)>,
}

impl Server {
    /// Listens, then serves on threads of its own. Each connection takes a file descriptor of this process, whose
    /// limit is left alone (unlike by [`run`]).
    ///
    /// # Errors
    /// The address cannot be listened on, the log cannot be created, or the system lacks a resource.
    pub fn spawn(settings: Settings) -> Result<Self, Error> {
        Self::start(settings, channel().0)
    }

    /// `ended` hears of the end of each serving thread.
    fn start(settings: Settings, ended: Sender<()>) -> Result<Self, Error> {
        let first = listen(&settings)?;
        let addr = first.local_addr().map_err(Error::system("read its own address"))?;
        let mut server = Self {
            addr,
            stop: Arc::default(),
            wakers: Vec::new(),
            threads: Vec::new(),
            log: None,
        };
        let mut blocks = None;
        if let Some(path) = settings.log.clone() {
            let file = File::create(&path).map_err(|source| Error::Log {
                path: path.clone(),
                source,
            })?;
            let (sender, receiver) = sync_channel(LOG_BLOCKS);
            let writer = thread::Builder::new()
                .name("mock-log".to_owned())
                .spawn(move || write_blocks(file, &receiver))
                .map_err(Error::system("start a thread"))?;
            server.log = Some((path, writer));
            blocks = Some(sender);
        }
        let threads = settings.threads;
        let shared = Settings {
            port: addr.port(),
            ..settings.clone()
        };
        let service = Arc::new(Service::new(settings));
        let mut listener = Some(first);
        for _ in 0..threads {
            let listener = listener.take().map_or_else(|| listen(&shared), Ok)?;
            let (event_loop, waker) = EventLoop::new(listener, Arc::clone(&server.stop))
                .map_err(Error::system("set up its readiness queue"))?;
            server.wakers.push(waker);
            let log = Log::new(blocks.clone());
            let (service, ended) = (Arc::clone(&service), ended.clone());
            let thread = thread::Builder::new()
                .name("mock-server".to_owned())
                .spawn(move || {
                    let outcome = event_loop.run(&service, log);
                    // Nobody listens unless the server is run in the foreground.
                    let _ = ended.send(());
                    outcome
                })
                .map_err(Error::system("start a thread"))?;
            server.threads.push(thread);
        }
        Ok(server)
    }

    /// Stops serving, cuts answers under way, and completes the log.
    ///
    /// # Errors
    /// What went wrong on the serving threads or with the log.
    pub fn stop(mut self) -> Result<(), Error> {
        self.shut_down()
    }

    fn shut_down(&mut self) -> Result<(), Error> {
        self.stop.store(true, Ordering::Release);
        let mut outcome = Ok(());
        for waker in &self.wakers {
            outcome = outcome.and(waker.wake().map_err(Error::system("wake a thread")));
        }
        for thread in self.threads.drain(..) {
            outcome = outcome.and(join(thread)?.map_err(Error::system("wait for readiness")));
        }
        if let Some((path, writer)) = self.log.take() {
            outcome = outcome.and(join(writer)?.map_err(|source| Error::Log { path, source }));
        }
        outcome
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Who wants to know calls `stop`.
        let _ = self.shut_down();
    }
}

fn join<T>(thread: JoinHandle<T>) -> Result<T, Error> {
    thread.join().map_err(|_| Error::Panicked)
}

/// Serves in the foreground until SIGTERM, SIGINT or, with `exit_with_stdin`, the end of standard input.
///
/// With `exit_with_stdin` the interrupt signal does not stop it: a terminal sends that to the whole process group,
/// and the parent may still want the answers under way. `on_listen` is called once, with the address listened on.
///
/// # Errors
/// As for [`Server::spawn`] and [`Server::stop`], or the signals cannot be listened to.
pub fn run(settings: Settings, on_listen: impl FnOnce(SocketAddr)) -> Result<(), Error> {
    raise_descriptor_limit();
    let child = settings.exit_with_stdin;
    let (ended, end) = channel();
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(Error::system("listen to signals"))?;
    let signals_handle = signals.handle();
    let server = Server::start(settings, ended.clone())?;
    on_listen(server.addr);
    let on_signal = ended.clone();
    let listener = thread::Builder::new()
        .name("mock-signals".to_owned())
        .spawn(move || {
            for signal in &mut signals {
                if signal == SIGTERM || !child {
                    // The receiver is gone only when all is over.
                    let _ = on_signal.send(());
                }
            }
        })
        .map_err(Error::system("start a thread"))?;
    if child {
        // Never joined: it may wait for input for ever.
        thread::Builder::new()
            .name("mock-stdin".to_owned())
            .spawn(move || {
                let mut bytes = [0; 1024];
                while io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {}
                let _ = ended.send(());
            })
            .map_err(Error::system("start a thread"))?;
    }
    // Cannot fail: the signal thread holds a sender.
    let _ = end.recv();
    signals_handle.close();
    let outcome = server.stop();
    join(listener)?;
    outcome
}

/// Ten thousand connections exceed the usual soft limit; the hard one is the user's to set.
fn raise_descriptor_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If refused, the server takes as many connections as it may.
    let _ = setrlimit(Resource::Nofile, limit);
}

fn listen(settings: &Settings) -> Result<TcpListener, Error> {
    let addr = (settings.host.as_str(), settings.port)
        .to_socket_addrs()
        .and_then(|mut addrs| addrs.next().ok_or_else(|| io::ErrorKind::NotFound.into()))
        .map_err(|source| Error::Resolve {
            host: settings.host.clone(),
            source,
        })?;
    let bind = || -> io::Result<TcpListener> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        if settings.threads > 1 {
            socket.set_reuse_port(true)?;
        }
        socket.bind(&addr.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    bind().map_err(|source| Error::Listen {
        address: addr.to_string(),
        source,
    })
}
