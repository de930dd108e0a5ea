"""What the files of a session are called."""

METADATA = "session_metadata.json"
PROGRESS = "progress_tracking.json"
LEDGER = "evidence.jsonl"
RESULT = "result.json"
JOURNAL = "session.sqlite"
LOG = "events.jsonl"
