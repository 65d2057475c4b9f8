-- The tables of one store. Times are Unix seconds, lists and mappings are JSON texts.

-- `changes` counts what the owner changed; `wal_starts` is what housekeeping writes into a new write-ahead log.
CREATE TABLE counter (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL,
    wal_starts INTEGER NOT NULL
);
INSERT INTO counter VALUES (1, 0, 0);

CREATE TABLE tenants (
    id TEXT PRIMARY KEY,
    created_at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE principals (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    enabled INTEGER NOT NULL DEFAULT 1,
    created_at REAL NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE TABLE projects (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    directory TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX projects_directory ON projects (tenant, directory);

-- `kind` is 'owner' for the one session of the store's owner, which has no token, else 'token'.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('owner', 'token')),
    token_hash BLOB UNIQUE,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    actor TEXT,
    project TEXT,
    scope TEXT,
    created_at REAL NOT NULL,
    expires_at REAL,
    revoked_at REAL,
    CHECK ((kind = 'owner') = (token_hash IS NULL))
);
CREATE UNIQUE INDEX sessions_owner ON sessions (kind) WHERE kind = 'owner';
CREATE INDEX sessions_of ON sessions (tenant, principal, created_at);

CREATE TABLE activations (
    session TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    activated_at REAL NOT NULL,
    PRIMARY KEY (session, pack_id)
) WITHOUT ROWID;

CREATE TABLE grants (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    capability TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    verb_keys TEXT NOT NULL,
    args_schema TEXT,
    until REAL,
    created_at REAL NOT NULL
);
CREATE INDEX grants_of ON grants (tenant, principal, capability, pack_id);

CREATE TABLE packs (
    tenant TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    version TEXT NOT NULL,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    root TEXT NOT NULL,
    linked INTEGER NOT NULL,
    compiled BLOB NOT NULL,
    installed_at REAL NOT NULL,
    PRIMARY KEY (tenant, pack_id)
);

CREATE TABLE overlays (
    tenant TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    verb_key TEXT NOT NULL,
    overlay TEXT NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (tenant, pack_id, verb_key)
) WITHOUT ROWID;

CREATE TABLE allowed (
    name TEXT PRIMARY KEY,
    real_path TEXT NOT NULL,
    allowed_at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE secrets (
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    family TEXT NOT NULL,
    nonce BLOB NOT NULL,
    ciphertext BLOB NOT NULL,
    meta TEXT NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (tenant, principal, pack_id, family)
);

CREATE TABLE vault_meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    digest TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'denied', 'used', 'revoked')),
    ask TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    used_by TEXT
);
CREATE INDEX approvals_of ON approvals (tenant, digest);
CREATE INDEX approvals_open ON approvals (tenant, state, created_at);
CREATE INDEX approvals_used ON approvals (used_by) WHERE used_by IS NOT NULL;

CREATE TABLE decisions (
    approval TEXT NOT NULL,
    principal TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('approve', 'deny')),
    at REAL NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (approval, principal)
) WITHOUT ROWID;

-- `holder` names the process that runs the call; `result` is null until the call has ended.
CREATE TABLE idempotency_keys (
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    audit_id TEXT NOT NULL,
    holder TEXT NOT NULL,
    at REAL NOT NULL,
    result BLOB,
    PRIMARY KEY (tenant, principal, key)
);
CREATE INDEX idempotency_keys_at ON idempotency_keys (at);

-- Where each tenant's chain ends; `@system` is the chain of calls without a live session. `low` and `high` bound
-- the times of the records behind the last full block.
CREATE TABLE chains (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    low TEXT NOT NULL,
    high TEXT NOT NULL
);

-- The times of every 256 records, so that a look at one day reads that day only: an index on `at` would cost each
-- call a page, and times that were set back keep records from being in the order of their times.
CREATE TABLE audit_blocks (
    chain INTEGER NOT NULL,
    last INTEGER NOT NULL,
    low TEXT NOT NULL,
    high TEXT NOT NULL,
    PRIMARY KEY (chain, last)
) WITHOUT ROWID;

-- `place` is chains.id * 2^40 + the record's number, so that a chain is one range of the primary key.
CREATE TABLE audit (
    place INTEGER PRIMARY KEY,
    audit_id TEXT NOT NULL,
    at TEXT NOT NULL,
    hash BLOB NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX audit_of_call ON audit (audit_id);

-- Intents whose outcome is not recorded: those of calls that run, and of calls that died.
CREATE TABLE intents (
    n INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    audit_id TEXT NOT NULL UNIQUE,
    holder TEXT NOT NULL
);

-- How many calls without a session were recorded since `since`.
CREATE TABLE strangers (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    since REAL NOT NULL,
    recorded INTEGER NOT NULL
);
INSERT INTO strangers VALUES (1, 0, 0);

CREATE TABLE brain (
    n INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    audit_id TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,
    principal TEXT NOT NULL,
    actor TEXT,
    session TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    verb_key TEXT NOT NULL,
    size INTEGER NOT NULL,
    result BLOB NOT NULL
);
CREATE INDEX brain_of ON brain (tenant, project, n);

CREATE TABLE brain_use (
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (tenant, project)
) WITHOUT ROWID;

CREATE TABLE signals (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,
    tenant TEXT NOT NULL,
    pack_id TEXT NOT NULL,
    key TEXT NOT NULL,
    level TEXT NOT NULL,
    text TEXT NOT NULL,
    data TEXT NOT NULL,
    ttl_s REAL
);
CREATE INDEX signals_of ON signals (tenant, n);
CREATE INDEX signals_latest ON signals (tenant, pack_id, key, n);
