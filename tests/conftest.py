"""A shell's background job (`make test &`) ignores SIGINT, and so would the processes that the tests interrupt."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
