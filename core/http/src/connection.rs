//! One HTTP/1.1 connection: a stamped socket, and whether it may carry another request.

use std::rc::Rc;

use crate::socket::Socket;

pub(crate) struct Connection {
    socket: Rc<Socket>,
    reusable: bool,
}

impl Connection {
    pub(crate) fn new(socket: Socket) -> Self {
        Self {
            socket: Rc::new(socket),
            reusable: false,
        }
    }

    pub(crate) fn socket(&self) -> &Rc<Socket> {
        &self.socket
    }

    /// Says whether the response that is over leaves the connection usable.
    pub(crate) fn set_reusable(&mut self, reusable: bool) {
        self.reusable = reusable;
    }

    /// Whether another request may be sent: the last response is complete and the server keeps the connection.
    pub(crate) fn is_reusable(&self) -> bool {
        self.reusable && !self.socket.has_ended()
    }
}
