//! The one system call that reads: `recvmsg`, with the kernel's receive timestamp beside the bytes; and the
//! registration that says when to call it.

#![allow(
    unsafe_code,
    reason = "recvmsg with control messages and SO_TIMESTAMPING have no safe form in std or socket2"
)]

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use tokio::io::unix::AsyncFd;

use crate::clock::Clock;

/// Registers a non-blocking stream with the runtime.
pub(crate) fn register(stream: TcpStream) -> io::Result<AsyncFd<TcpStream>> {
    // SAFETY: a TcpStream owns its descriptor, always names the same one, and closes it only when dropped, which the
    // AsyncFd that now owns the stream does after its registration is gone.
    Ok(unsafe { AsyncFd::register(stream) }?)
}

/// What one read brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Bytes read; 0 is the end of the stream.
    pub(crate) len: usize,
    /// Whether the buffer was filled to its end, so that more may be waiting.
    pub(crate) filled: bool,
    /// Monotonic time right after the system call, in nanoseconds.
    pub(crate) user: u64,
    /// Wall time (epoch nanoseconds) at which the kernel received the last segment of this read; 0 is missing.
    pub(crate) wall: u64,
}

/// Reads once from the socket into `buffer`.
pub(crate) fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8], clock: Clock) -> io::Result<Received> {
    // Room for SCM_TIMESTAMPING (a header of 16 bytes and three timespecs), aligned as cmsghdr demands.
    let mut control = [0u64; 16];
    let mut bytes = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: msghdr is plain data for which all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = std::mem::size_of_val(&control) as _;
    loop {
        // SAFETY: `message` points to one iovec over `buffer` and to `control`; both outlive the call.
        let read = unsafe { recvmsg(fd.as_raw_fd(), &mut message) };
        let user = clock.now();
        if let Ok(len) = usize::try_from(read) {
            return Ok(Received {
                len,
                filled: len == buffer.len(),
                user,
                wall: stamp(&message),
            });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The system call alone. That of the C library is a cancellation point, which takes two atomic operations around each
/// call in a program with threads.
///
/// # Safety
/// As for `recvmsg`: what `message` points to must be valid for writes of the lengths that it states.
#[cfg(target_os = "linux")]
unsafe fn recvmsg(fd: RawFd, message: &mut libc::msghdr) -> isize {
    // SAFETY: the arguments are those of the system call; the caller vouches for what they point to.
    unsafe { libc::syscall(libc::SYS_recvmsg, fd, std::ptr::from_mut(message), 0) as isize }
}

#[cfg(not(target_os = "linux"))]
unsafe fn recvmsg(fd: RawFd, message: &mut libc::msghdr) -> isize {
    // SAFETY: the caller vouches for what `message` points to.
    unsafe { libc::recvmsg(fd, message, 0) }
}

/// The software receive timestamp in the control messages of a successful `recvmsg`, as epoch nanoseconds; 0 if none.
#[cfg(target_os = "linux")]
fn stamp(message: &libc::msghdr) -> u64 {
    // SAFETY: `message` was filled by a successful recvmsg and its control buffer is still alive; CMSG_FIRSTHDR and
    // CMSG_NXTHDR stay within msg_controllen and return null at its end.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_TIMESTAMPING {
                // The first of three timespecs is the software one. The data may be unaligned.
                let time: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(header).cast());
                return time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    0
}

#[cfg(not(target_os = "linux"))]
fn stamp(_: &libc::msghdr) -> u64 {
    0
}

/// Asks the kernel to stamp what this socket receives. Where it can't, reads carry no kernel stamp: not an error.
#[cfg(target_os = "linux")]
pub(crate) fn enable_timestamps(fd: BorrowedFd<'_>) {
    let flags: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the option value is a c_uint that lives through the call, and its size is passed along.
    unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            std::ptr::from_ref(&flags).cast(),
            std::mem::size_of_val(&flags) as libc::socklen_t,
        );
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn enable_timestamps(_: BorrowedFd<'_>) {}
