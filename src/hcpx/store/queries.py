"""Every SQL statement of the store, by name."""

from __future__ import annotations

from typing import Final

# --- the counter -----------------------------------------------------------------------------------------

CHANGES: Final = "SELECT changes FROM counter WHERE id = 1"
COUNT_CHANGE: Final = "UPDATE counter SET changes = changes + 1 WHERE id = 1"
BEGIN_LOG: Final = "UPDATE counter SET wal_starts = wal_starts + 1 WHERE id = 1"

# --- tenants and principals ------------------------------------------------------------------------------

TENANT_ADD: Final = "INSERT INTO tenants (id, created_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING"
TENANTS: Final = "SELECT id FROM tenants ORDER BY id"
PRINCIPAL_ADD: Final = (
    "INSERT INTO principals (tenant, id, enabled, created_at) VALUES (?, ?, 1, ?) ON CONFLICT (tenant, id) DO NOTHING"
)
PRINCIPALS: Final = "SELECT id, enabled, created_at FROM principals WHERE tenant = ? ORDER BY id"
PRINCIPAL_ENABLE: Final = "UPDATE principals SET enabled = ? WHERE tenant = ? AND id = ?"

# --- projects --------------------------------------------------------------------------------------------

PROJECT_ADD: Final = "INSERT INTO projects (tenant, id, directory, created_at) VALUES (?, ?, ?, ?)"
PROJECT_CLASH: Final = "SELECT id, directory FROM projects WHERE tenant = ? AND (id = ? OR directory = ?)"
PROJECT_REMOVE: Final = "DELETE FROM projects WHERE tenant = ? AND id = ?"
PROJECTS: Final = "SELECT id, directory FROM projects WHERE tenant = ? ORDER BY id"

# --- sessions --------------------------------------------------------------------------------------------

_SESSION_LIVE: Final = (
    "SELECT s.id, s.tenant, s.principal, s.actor, s.project, p.directory, s.scope, s.expires_at, s.kind"
    " FROM sessions s"
    " JOIN principals w ON w.tenant = s.tenant AND w.id = s.principal AND w.enabled = 1"
    " LEFT JOIN principals a ON a.tenant = s.tenant AND a.id = s.actor"
    " LEFT JOIN projects p ON p.tenant = s.tenant AND p.id = s.project"
    " WHERE s.revoked_at IS NULL AND (s.actor IS NULL OR a.enabled = 1)"
)
# One that ends counts only from when it was made: a clock that is set back gives nobody more time.
_BEGUN: Final = "(s.expires_at IS NULL OR s.created_at <= ?)"
SESSION_OF_TOKEN: Final = f"{_SESSION_LIVE} AND s.token_hash = ? AND {_BEGUN}"
SESSION_OF_ID: Final = f"{_SESSION_LIVE} AND s.id = ? AND {_BEGUN}"
SESSION_OF_OWNER: Final = f"{_SESSION_LIVE} AND s.kind = 'owner'"
ACTIVATIONS: Final = "SELECT pack_id, digest FROM activations WHERE session = ? ORDER BY pack_id"
_SESSION: Final = (
    "SELECT s.id, s.kind, s.tenant, s.principal, s.actor, s.project, s.scope, s.created_at, s.expires_at,"
    " s.revoked_at, w.enabled, a.enabled"
    " FROM sessions s"
    " LEFT JOIN principals w ON w.tenant = s.tenant AND w.id = s.principal"
    " LEFT JOIN principals a ON a.tenant = s.tenant AND a.id = s.actor"
)
SESSION: Final = f"{_SESSION} WHERE s.id = ?"
SESSION_OWNER: Final = f"{_SESSION} WHERE s.kind = 'owner'"
SESSIONS: Final = f"{_SESSION} WHERE s.tenant = ? ORDER BY s.principal, s.created_at, s.id"
SESSION_ADD: Final = (
    "INSERT INTO sessions"
    " (id, kind, token_hash, tenant, principal, actor, project, scope, created_at, expires_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
SESSION_REVOKE: Final = "UPDATE sessions SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
ACTIVATE: Final = (
    "INSERT INTO activations (session, pack_id, digest, activated_at) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (session, pack_id)"
    " DO UPDATE SET digest = excluded.digest, activated_at = excluded.activated_at"
)
DEACTIVATE: Final = "DELETE FROM activations WHERE session = ? AND pack_id = ?"

# --- grants ----------------------------------------------------------------------------------------------

GRANTS_NAMING: Final = (
    "SELECT g.capability, g.pack_id, g.verb_keys, g.args_schema, g.until FROM grants g"
    " JOIN principals p ON p.tenant = g.tenant AND p.id = g.principal AND p.enabled = 1"
    " WHERE g.tenant = ? AND g.principal = ? AND g.capability = ? AND g.pack_id IN ('*', ?) ORDER BY g.id"
)
GRANTS: Final = (
    "SELECT id, principal, capability, pack_id, verb_keys, args_schema, until, created_at FROM grants"
    " WHERE tenant = ? ORDER BY principal, id"
)
GRANTS_OF_ONE: Final = (
    "SELECT id, principal, capability, pack_id, verb_keys, args_schema, until, created_at FROM grants"
    " WHERE tenant = ? AND principal = ? ORDER BY id"
)
GRANT_SAME: Final = (
    "SELECT id FROM grants WHERE tenant = ? AND principal = ? AND capability = ? AND pack_id = ?"
    " AND verb_keys = ? AND args_schema IS ? AND until IS ?"
)
GRANT_ADD: Final = (
    "INSERT INTO grants (tenant, principal, capability, pack_id, verb_keys, args_schema, until, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
GRANT_REMOVE: Final = "DELETE FROM grants WHERE id = ?"

# --- packs, overlays, allow-list, settings ---------------------------------------------------------------

_PACK: Final = "SELECT tenant, pack_id, version, title, digest, root, linked, compiled, installed_at FROM packs"
PACK: Final = f"{_PACK} WHERE tenant = ? AND pack_id = ?"
PACKS: Final = f"{_PACK} WHERE tenant = ? ORDER BY pack_id"
PACK_PUT: Final = (
    "INSERT INTO packs (tenant, pack_id, version, title, digest, root, linked, compiled, installed_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, pack_id) DO UPDATE SET"
    " version = excluded.version, title = excluded.title, digest = excluded.digest, root = excluded.root,"
    " linked = excluded.linked, compiled = excluded.compiled, installed_at = excluded.installed_at"
)
PACK_REMOVE: Final = "DELETE FROM packs WHERE tenant = ? AND pack_id = ?"
PACK_ROOTS: Final = "SELECT DISTINCT root FROM packs WHERE NOT linked ORDER BY root"

OVERLAYS_OF: Final = "SELECT verb_key, overlay FROM overlays WHERE tenant = ? AND pack_id = ? ORDER BY verb_key"
OVERLAYS: Final = "SELECT pack_id, verb_key, overlay FROM overlays WHERE tenant = ? ORDER BY pack_id, verb_key"
OVERLAY: Final = "SELECT overlay FROM overlays WHERE tenant = ? AND pack_id = ? AND verb_key = ?"
OVERLAY_PUT: Final = (
    "INSERT INTO overlays (tenant, pack_id, verb_key, overlay, updated_at) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, pack_id, verb_key)"
    " DO UPDATE SET overlay = excluded.overlay, updated_at = excluded.updated_at"
)

ALLOWED: Final = "SELECT name, real_path FROM allowed ORDER BY name"
ALLOWED_PUT: Final = (
    "INSERT INTO allowed (name, real_path, allowed_at) VALUES (?, ?, ?) ON CONFLICT (name)"
    " DO UPDATE SET real_path = excluded.real_path, allowed_at = excluded.allowed_at"
)
ALLOWED_REMOVE: Final = "DELETE FROM allowed WHERE name = ?"

SETTINGS: Final = "SELECT name, value FROM settings ORDER BY name"
SETTING_PUT: Final = (
    "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
SETTING_REMOVE: Final = "DELETE FROM settings WHERE name = ?"

# --- the vault -------------------------------------------------------------------------------------------

_VAULT: Final = "SELECT tenant, principal, pack_id, family, nonce, ciphertext, meta, updated_at FROM secrets"
VAULT_ROW: Final = f"{_VAULT} WHERE tenant = ? AND principal = ? AND pack_id = ? AND family = ?"
VAULT_ROWS: Final = f"{_VAULT} ORDER BY tenant, principal, pack_id, family"
VAULT_ROWS_OF: Final = f"{_VAULT} WHERE tenant = ? ORDER BY principal, pack_id, family"
VAULT_PUT: Final = (
    "INSERT INTO secrets (tenant, principal, pack_id, family, nonce, ciphertext, meta, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, principal, pack_id, family) DO UPDATE SET"
    " nonce = excluded.nonce, ciphertext = excluded.ciphertext, meta = excluded.meta,"
    " updated_at = excluded.updated_at"
)
VAULT_REMOVE: Final = "DELETE FROM secrets WHERE tenant = ? AND principal = ? AND pack_id = ? AND family = ?"
VAULT_META: Final = "SELECT value FROM vault_meta WHERE name = ?"
VAULT_META_PUT: Final = (
    "INSERT INTO vault_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
VAULT_META_ADD: Final = "INSERT INTO vault_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"

# --- approvals -------------------------------------------------------------------------------------------

_APPROVAL: Final = "SELECT id, ask, state, created_at, expires_at FROM approvals"
APPROVAL: Final = f"{_APPROVAL} WHERE id = ?"
# A denial outweighs a request that still waits; of those that wait the oldest counts.
APPROVAL_WAITING: Final = (
    f"{_APPROVAL} WHERE tenant = ? AND digest = ? AND state IN ('pending', 'denied')"
    " AND expires_at > ? AND created_at <= ?"
    " ORDER BY state = 'pending', created_at, id LIMIT 1"
)
APPROVALS: Final = f"{_APPROVAL} WHERE tenant = ? ORDER BY created_at DESC, id DESC LIMIT ?"
APPROVALS_OPEN: Final = (
    f"{_APPROVAL} WHERE tenant = ? AND state = 'pending' AND expires_at > ? AND created_at <= ? ORDER BY created_at, id"
)
APPROVAL_ADD: Final = (
    "INSERT INTO approvals (id, tenant, digest, state, ask, created_at, expires_at)"
    " VALUES (?, ?, ?, 'pending', ?, ?, ?)"
)
APPROVAL_DENY: Final = "UPDATE approvals SET state = 'denied' WHERE id = ?"
APPROVAL_REVOKE: Final = "UPDATE approvals SET state = 'revoked' WHERE id = ? AND state = 'pending'"
APPROVAL_USE: Final = "UPDATE approvals SET state = 'used', used_by = ? WHERE id = ? AND state = 'pending'"
APPROVALS_GIVE_BACK: Final = (
    "UPDATE approvals SET state = 'pending', used_by = NULL WHERE used_by = ? AND state = 'used'"
)
DECISIONS: Final = "SELECT principal, verdict, at, reason FROM decisions WHERE approval = ? ORDER BY at, principal"
DECISION_ADD: Final = "INSERT INTO decisions (approval, principal, verdict, at, reason) VALUES (?, ?, ?, ?, ?)"

# --- idempotency -----------------------------------------------------------------------------------------

KEY: Final = (
    "SELECT digest, audit_id, holder, at, result FROM idempotency_keys WHERE tenant = ? AND principal = ? AND key = ?"
)
KEY_RESERVE: Final = (
    "INSERT INTO idempotency_keys (tenant, principal, key, digest, audit_id, holder, at, result)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (tenant, principal, key) DO UPDATE SET"
    " digest = excluded.digest, audit_id = excluded.audit_id, holder = excluded.holder, at = excluded.at,"
    " result = NULL"
)
KEYS_EXPIRE: Final = (
    "DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys"
    " WHERE at < ? AND result IS NOT NULL ORDER BY at LIMIT 16)"
)
KEY_FINISH: Final = (
    "UPDATE idempotency_keys SET result = ?"
    " WHERE tenant = ? AND principal = ? AND key = ? AND audit_id = ? AND result IS NULL"
)
KEY_FREE: Final = (
    "DELETE FROM idempotency_keys WHERE tenant = ? AND principal = ? AND key = ? AND audit_id = ? AND result IS NULL"
)

# --- the audit -------------------------------------------------------------------------------------------

CHAIN: Final = "SELECT id, seq, hash FROM chains WHERE tenant = ?"
CHAINS: Final = "SELECT tenant FROM chains ORDER BY id"
CHAIN_NAMES: Final = "SELECT id, tenant FROM chains"
CHAIN_BEGIN: Final = "INSERT INTO chains (tenant, seq, hash, low, high) VALUES (?, ?, ?, ?, ?)"
CHAIN_MOVE: Final = "UPDATE chains SET seq = ?1, hash = ?2, low = min(low, ?3), high = max(high, ?3) WHERE id = ?4"
BLOCK_ADD: Final = (
    "INSERT INTO audit_blocks (chain, last, low, high) SELECT id, seq, low, high FROM chains WHERE id = ?"
)
BLOCK_BEGIN: Final = "UPDATE chains SET low = '~', high = '' WHERE id = ?"
BLOCK_LAST: Final = "SELECT max(last) FROM audit_blocks WHERE chain = ?"
# The text is bound as bytes and kept as text, so that people can read it with any tool.
RECORD_ADD: Final = "INSERT INTO audit (place, audit_id, at, hash, record) VALUES (?, ?, ?, ?, CAST(? AS TEXT))"
_RECORD: Final = "SELECT a.place, a.hash, CAST(a.record AS BLOB), a.audit_id, a.at FROM"
RECORDS_FORWARD: Final = f"{_RECORD} audit a WHERE a.place BETWEEN ? AND ? ORDER BY a.place"
RECORDS_BACKWARD: Final = f"{_RECORD} audit a WHERE a.place BETWEEN ? AND ? ORDER BY a.place DESC"
RECORDS_OF_CALL: Final = f"{_RECORD} audit a WHERE a.audit_id = ? ORDER BY a.place"
RECORDS_OF_TAIL: Final = (
    f"{_RECORD} audit a WHERE a.place BETWEEN ? AND ? AND a.at BETWEEN ? AND ? ORDER BY a.place DESC"
)
# ?1 the chain, ?2 its first place less one, ?3 and ?4 the times, ?5 the length of a block.
RECORDS_OF_BLOCKS: Final = (
    f"{_RECORD} audit_blocks b CROSS JOIN audit a"
    " WHERE b.chain = ?1 AND b.high >= ?3 AND b.low <= ?4"
    " AND a.place BETWEEN ?2 + b.last - ?5 + 1 AND ?2 + b.last AND a.at BETWEEN ?3 AND ?4"
    " ORDER BY b.last DESC, a.place DESC"
)

INTENT_OPEN: Final = "INSERT INTO intents (tenant, audit_id, holder) VALUES (?, ?, ?)"
INTENT_CLOSE: Final = "DELETE FROM intents WHERE audit_id = ?"
INTENTS: Final = "SELECT tenant, audit_id, holder FROM intents ORDER BY n"

STRANGERS: Final = "SELECT since, recorded FROM strangers WHERE id = 1"
STRANGERS_COUNT: Final = "UPDATE strangers SET since = ?, recorded = ? WHERE id = 1"

# --- brain and sense -------------------------------------------------------------------------------------

BRAIN_USE: Final = "SELECT bytes FROM brain_use WHERE tenant = ? AND project = ?"
BRAIN_USE_ADD: Final = (
    "INSERT INTO brain_use (tenant, project, bytes) VALUES (?, ?, ?)"
    " ON CONFLICT (tenant, project) DO UPDATE SET bytes = bytes + excluded.bytes"
)
BRAIN_ADD: Final = (
    "INSERT INTO brain"
    " (tenant, project, audit_id, at, principal, actor, session, pack_id, verb_key, size, result)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_BRAIN: Final = "SELECT tenant, project, audit_id, at, principal, actor, session, pack_id, verb_key, size FROM brain"
BRAIN: Final = f"{_BRAIN} WHERE tenant = ? AND project = ? ORDER BY n DESC LIMIT ?"
BRAIN_SHOW: Final = (
    "SELECT tenant, project, audit_id, at, principal, actor, session, pack_id, verb_key, size, result"
    " FROM brain WHERE tenant = ? AND audit_id = ?"
)
BRAIN_REMOVE: Final = "DELETE FROM brain WHERE tenant = ? AND audit_id = ?"

_SIGNAL: Final = "SELECT n, id, at, tenant, pack_id, key, level, text, data, ttl_s FROM signals"
SIGNAL_ADD: Final = (
    "INSERT INTO signals (id, at, tenant, pack_id, key, level, text, data, ttl_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
SIGNALS_AFTER: Final = f"{_SIGNAL} WHERE tenant = ? AND n > ? ORDER BY n LIMIT ?"
SIGNALS_NEWEST: Final = f"{_SIGNAL} WHERE tenant = ? ORDER BY n DESC LIMIT ?"
SIGNAL_LATEST: Final = f"{_SIGNAL} WHERE tenant = ? AND pack_id = ? AND key = ? ORDER BY n DESC LIMIT 1"
SIGNALS_DROP: Final = (
    "DELETE FROM signals WHERE tenant = ? AND n <= (SELECT n FROM signals WHERE tenant = ?"
    " ORDER BY n DESC LIMIT 1 OFFSET ?)"
)
