-- Makes wrk post the body in the file that BODY names, as a client that takes a stream of events would.
local file = assert(io.open(os.getenv("BODY"), "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "text/event-stream"
file:close()
