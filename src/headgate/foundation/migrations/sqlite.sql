PRAGMA defer_foreign_keys = ON
--
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)
--
CREATE TABLE tenants (
	id VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	created_at BIGINT NOT NULL, second_factor_required BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_tenants PRIMARY KEY (id)
)
--
CREATE TABLE users (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	created_at BIGINT NOT NULL, email VARCHAR(254), role VARCHAR(16) DEFAULT 'member' NOT NULL, active BOOLEAN DEFAULT 1 NOT NULL, password_hash TEXT, sso_issuer VARCHAR(500), sso_subject VARCHAR(255), home_space_id VARCHAR(36), last_sign_in_at BIGINT, deleted_at BIGINT, kind VARCHAR(16) DEFAULT 'user' NOT NULL CONSTRAINT ck_users_kind CHECK (kind = 'user' OR (kind = 'service' AND email IS NULL AND password_hash IS NULL AND sso_issuer IS NULL AND sso_subject IS NULL)), 
	CONSTRAINT pk_users PRIMARY KEY (id), 
	CONSTRAINT fk_users_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT uq_users_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE files (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	media_type VARCHAR(255) NOT NULL, 
	size_bytes BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	created_at BIGINT NOT NULL, 
	owner_user_id VARCHAR(36), 
	flow_id VARCHAR(36), 
	flow_run_id VARCHAR(36), 
	step_id VARCHAR(64), space_id VARCHAR(36), data_key_id VARCHAR(16), expires_at BIGINT, 
	CONSTRAINT pk_files PRIMARY KEY (id), 
	CONSTRAINT fk_files_owner_user_id FOREIGN KEY(owner_user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT fk_files_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE spaces (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	owner_user_id VARCHAR(36), 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_spaces PRIMARY KEY (id), 
	CONSTRAINT fk_spaces_owner_user_id FOREIGN KEY(owner_user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT fk_spaces_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT uq_spaces_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE flows (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	description VARCHAR(10000) NOT NULL, 
	draft JSON NOT NULL, 
	revision INTEGER NOT NULL, 
	draft_version INTEGER, 
	last_version INTEGER NOT NULL, 
	last_release INTEGER NOT NULL, 
	published_version INTEGER, 
	created_by_user_id VARCHAR(36), 
	owner_user_id VARCHAR(36), 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	deleted_at BIGINT, updated_by_user_id VARCHAR(36), restores INTEGER, purged_at BIGINT, folder VARCHAR(300) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_flows PRIMARY KEY (id), 
	CONSTRAINT fk_flows_created_by_user_id FOREIGN KEY(created_by_user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT fk_flows_owner_user_id FOREIGN KEY(owner_user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT fk_flows_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flows_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT uq_flows_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE flow_versions (
	flow_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	logic_checksum VARCHAR(64) NOT NULL, 
	definition JSON NOT NULL, 
	headgate_version VARCHAR(32) NOT NULL, 
	created_by_user_id VARCHAR(36), 
	created_at BIGINT NOT NULL, 
	release INTEGER, 
	released_at BIGINT, 
	release_notes VARCHAR(2000) NOT NULL, 
	CONSTRAINT pk_flow_versions PRIMARY KEY (flow_id, version), 
	CONSTRAINT ck_flow_versions_version_from_one CHECK (version >= 1), 
	CONSTRAINT fk_flow_versions_created_by_user_id FOREIGN KEY(created_by_user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT fk_flow_versions_flow_id_tenant_id FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_flow_versions_flow_id_checksum UNIQUE (flow_id, checksum), 
	CONSTRAINT uq_flow_versions_flow_id_release UNIQUE (flow_id, release)
)
--
CREATE TABLE flow_runs (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	user_id VARCHAR(36), 
	session_id VARCHAR(128), 
	status VARCHAR(16) NOT NULL, 
	unfinished INTEGER NOT NULL, 
	input_payload JSON NOT NULL, 
	output_payload JSON, 
	error_code VARCHAR(64), 
	error_message TEXT, 
	created_at BIGINT NOT NULL, 
	started_at BIGINT, 
	finished_at BIGINT, 
	cancelled_at BIGINT, dispatched_at BIGINT, dispatches INTEGER DEFAULT '0' NOT NULL, resumes INTEGER DEFAULT '0' NOT NULL, source_run_id VARCHAR(36), source_step_id VARCHAR(64), trace_parent VARCHAR(64), part JSON, last_event INTEGER DEFAULT '0' NOT NULL, pickups INTEGER DEFAULT '0' NOT NULL, visitor VARCHAR(64), parent_run_id VARCHAR(36), parent_step_id VARCHAR(64), parent_iteration INTEGER, paused_at BIGINT, deadline_after BIGINT, deadline_at BIGINT, terms JSON, error_flow VARCHAR(200), 
	CONSTRAINT pk_flow_runs PRIMARY KEY (id), 
	CONSTRAINT ck_flow_runs_status_known CHECK (status IN ('queued', 'running', 'waiting', 'paused', 'completed', 'failed', 'cancelled')), 
	CONSTRAINT fk_flow_runs_flow_id_tenant_id FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_runs_flow_id_version FOREIGN KEY(flow_id, version) REFERENCES flow_versions (flow_id, version) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_runs_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT uq_flow_runs_id_flow_id UNIQUE (id, flow_id), 
	CONSTRAINT uq_flow_runs_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE version_steps (
	flow_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	step_order INTEGER NOT NULL, 
	type VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_version_steps PRIMARY KEY (flow_id, version, step_id), 
	CONSTRAINT ck_version_steps_order_from_one CHECK (step_order >= 1), 
	CONSTRAINT fk_version_steps_flow_id_version FOREIGN KEY(flow_id, version) REFERENCES flow_versions (flow_id, version) ON DELETE CASCADE, 
	CONSTRAINT uq_version_steps_flow_id_version_step_id_step_order UNIQUE (flow_id, version, step_id, step_order), 
	CONSTRAINT uq_version_steps_flow_id_version_step_order UNIQUE (flow_id, version, step_order)
)
--
CREATE TABLE flow_step_attempts (
	flow_run_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	attempt_no INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	step_order INTEGER NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	worker_id VARCHAR(64), 
	error_code VARCHAR(64), 
	error_message TEXT, 
	started_at BIGINT NOT NULL, 
	finished_at BIGINT, record JSON, 
	CONSTRAINT pk_flow_step_attempts PRIMARY KEY (flow_run_id, flow_id, step_id, attempt_no), 
	CONSTRAINT ck_flow_step_attempts_status_known CHECK (status IN ('started', 'completed', 'failed', 'retried', 'suspended', 'cancelled')), 
	CONSTRAINT ck_flow_step_attempts_attempt_from_one CHECK (attempt_no >= 1), 
	CONSTRAINT fk_flow_step_attempts_flow_id_version_step_id FOREIGN KEY(flow_id, version, step_id) REFERENCES version_steps (flow_id, version, step_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_step_attempts_flow_run_id_flow_id FOREIGN KEY(flow_run_id, flow_id) REFERENCES flow_runs (id, flow_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_step_attempts_flow_run_id_tenant_id FOREIGN KEY(flow_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_flow_step_attempts_flow_run_id_step_id_attempt_no UNIQUE (flow_run_id, step_id, attempt_no)
)
--
CREATE TABLE flow_step_results (
	flow_run_id VARCHAR(36) NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	step_order INTEGER NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	waiting INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	input_payload JSON, 
	effective_prompt TEXT, 
	output_payload JSON, 
	model_parameters JSON, 
	tool_calls JSON, 
	log JSON, 
	num_tokens_input INTEGER, 
	num_tokens_output INTEGER, 
	execution_hash VARCHAR(64), 
	error_code VARCHAR(64), 
	error_message TEXT, 
	started_at BIGINT, 
	finished_at BIGINT, reused_from_run_id VARCHAR(36), classification INTEGER, waits_for VARCHAR(16), due_at BIGINT, interruptions INTEGER DEFAULT '0' NOT NULL, answered_at BIGINT, failures INTEGER DEFAULT '0' NOT NULL, failing_since BIGINT, waited_for VARCHAR(16), expected_runs INTEGER, 
	CONSTRAINT pk_flow_step_results PRIMARY KEY (flow_run_id, flow_id, step_id), 
	CONSTRAINT ck_flow_step_results_status_known CHECK (status IN ('pending', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped')), 
	CONSTRAINT ck_flow_step_results_waiting_not_negative CHECK (waiting >= 0), 
	CONSTRAINT fk_flow_step_results_flow_id_version_step_id FOREIGN KEY(flow_id, version, step_id) REFERENCES version_steps (flow_id, version, step_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_step_results_flow_run_id_flow_id FOREIGN KEY(flow_run_id, flow_id) REFERENCES flow_runs (id, flow_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_step_results_flow_run_id_tenant_id FOREIGN KEY(flow_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_flow_step_results_flow_run_id_step_id UNIQUE (flow_run_id, step_id)
)
--
CREATE TABLE version_edges (
	flow_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	parent_step_id VARCHAR(64) NOT NULL, 
	child_step_id VARCHAR(64) NOT NULL, 
	parent_order INTEGER NOT NULL, 
	child_order INTEGER NOT NULL, 
	CONSTRAINT pk_version_edges PRIMARY KEY (flow_id, version, parent_step_id, child_step_id), 
	CONSTRAINT ck_version_edges_no_cycle CHECK (parent_order < child_order), 
	CONSTRAINT ck_version_edges_no_self_edge CHECK (parent_step_id <> child_step_id), 
	CONSTRAINT fk_version_edges_child FOREIGN KEY(flow_id, version, child_step_id, child_order) REFERENCES version_steps (flow_id, version, step_id, step_order) ON DELETE CASCADE, 
	CONSTRAINT fk_version_edges_parent FOREIGN KEY(flow_id, version, parent_step_id, parent_order) REFERENCES version_steps (flow_id, version, step_id, step_order) ON DELETE CASCADE
)
--
CREATE TABLE webhook_deliveries (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	flow_run_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	target BLOB NOT NULL, 
	url_shown TEXT NOT NULL, 
	idempotency_key VARCHAR(64) NOT NULL, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	due_at BIGINT, 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	last_status INTEGER, 
	error_code VARCHAR(64), 
	error_message TEXT, 
	created_at BIGINT NOT NULL, 
	delivered_at BIGINT, earlier_attempts INTEGER DEFAULT '0' NOT NULL, event VARCHAR(200), 
	CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id), 
	CONSTRAINT ck_webhook_deliveries_status_known CHECK (status IN ('pending', 'delivering', 'delivered', 'failed', 'cancelled')), 
	CONSTRAINT fk_webhook_deliveries_run_tenant FOREIGN KEY(flow_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_webhook_deliveries_step FOREIGN KEY(flow_run_id, flow_id, step_id) REFERENCES flow_step_results (flow_run_id, flow_id, step_id) ON DELETE CASCADE, 
	CONSTRAINT uq_webhook_deliveries_flow_run_id_step_id UNIQUE (flow_run_id, step_id), 
	CONSTRAINT uq_webhook_deliveries_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE webhook_delivery_attempts (
	delivery_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	attempt_no INTEGER NOT NULL, 
	started_at BIGINT NOT NULL, 
	finished_at BIGINT, 
	status_code INTEGER, 
	error_code VARCHAR(64), 
	error_message TEXT, 
	CONSTRAINT pk_webhook_delivery_attempts PRIMARY KEY (delivery_id, attempt_no), 
	CONSTRAINT ck_webhook_delivery_attempts_attempt_from_one CHECK (attempt_no >= 1), 
	CONSTRAINT fk_webhook_delivery_attempts_delivery_id_tenant_id FOREIGN KEY(delivery_id, tenant_id) REFERENCES webhook_deliveries (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE mcp_servers (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	transport VARCHAR(8) NOT NULL, 
	url TEXT NOT NULL, 
	command JSON, 
	sealed BLOB, 
	secret_names JSON NOT NULL, 
	enabled BOOLEAN NOT NULL, 
	tools_found_at BIGINT, 
	error_message TEXT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, connection VARCHAR(64) DEFAULT '' NOT NULL, sampling JSON, access JSON, 
	CONSTRAINT pk_mcp_servers PRIMARY KEY (id), 
	CONSTRAINT ck_mcp_servers_transport_known CHECK (transport IN ('http', 'stdio')), 
	CONSTRAINT fk_mcp_servers_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_mcp_servers_id_tenant_id UNIQUE (id, tenant_id), 
	CONSTRAINT uq_mcp_servers_space_id_name UNIQUE (space_id, name)
)
--
CREATE TABLE mcp_tools (
	server_id VARCHAR(36) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	place INTEGER NOT NULL, 
	description TEXT NOT NULL, 
	input_schema JSON NOT NULL, 
	enabled BOOLEAN NOT NULL, read_only BOOLEAN DEFAULT 0 NOT NULL, sha256 VARCHAR(64) DEFAULT '' NOT NULL, accepted_sha256 VARCHAR(64) DEFAULT '' NOT NULL, accepted JSON, 
	CONSTRAINT pk_mcp_tools PRIMARY KEY (server_id, name), 
	CONSTRAINT fk_mcp_tools_server_id_tenant_id FOREIGN KEY(server_id, tenant_id) REFERENCES mcp_servers (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE model_classes (
	tenant_id VARCHAR(36) NOT NULL, 
	provider VARCHAR(64) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	level INTEGER NOT NULL, 
	CONSTRAINT pk_model_classes PRIMARY KEY (tenant_id, provider, name), 
	CONSTRAINT ck_model_classes_level_not_negative CHECK (level >= 0), 
	CONSTRAINT fk_model_classes_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE space_members (
	space_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	created_at BIGINT NOT NULL, directory_role VARCHAR(16), assigned_role VARCHAR(16), 
	CONSTRAINT pk_space_members PRIMARY KEY (space_id, user_id), 
	CONSTRAINT ck_space_members_role CHECK (role IN ('viewer', 'runner', 'editor', 'publisher', 'owner')), 
	CONSTRAINT fk_space_members_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_space_members_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE user_sessions (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	created_at BIGINT NOT NULL, 
	last_seen_at BIGINT NOT NULL, 
	expires_at BIGINT NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	user_agent VARCHAR(300) NOT NULL, 
	method VARCHAR(16) NOT NULL, second_factor VARCHAR(16), confirmed_at BIGINT, provider_session VARCHAR(255), 
	CONSTRAINT pk_user_sessions PRIMARY KEY (id), 
	CONSTRAINT uq_user_sessions_token_hash UNIQUE (token_hash), 
	CONSTRAINT fk_user_sessions_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE one_time_links (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT NOT NULL, 
	used_at BIGINT, 
	CONSTRAINT pk_one_time_links PRIMARY KEY (id), 
	CONSTRAINT uq_one_time_links_token_hash UNIQUE (token_hash), 
	CONSTRAINT fk_one_time_links_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE api_keys (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	prefix VARCHAR(24) NOT NULL, 
	secret_hash VARCHAR(64) NOT NULL, 
	scopes JSON, 
	space_ids JSON, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	revoked_at BIGINT, 
	last_used_at BIGINT, 
	last_used_address VARCHAR(64), 
	made_by_key_id VARCHAR(36), networks JSON, 
	CONSTRAINT pk_api_keys PRIMARY KEY (id), 
	CONSTRAINT uq_api_keys_prefix UNIQUE (prefix), 
	CONSTRAINT uq_api_keys_secret_hash UNIQUE (secret_hash), 
	CONSTRAINT fk_api_keys_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE audit_heads (
	tenant_id VARCHAR(36) NOT NULL, 
	seq BIGINT NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_audit_heads PRIMARY KEY (tenant_id), 
	CONSTRAINT fk_audit_heads_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id)
)
--
CREATE TABLE audit_events (
	tenant_id VARCHAR(36) NOT NULL, 
	seq BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	payload TEXT NOT NULL, 
	actor_kind VARCHAR(16) NOT NULL, 
	actor_id VARCHAR(36) NOT NULL, 
	actor_name VARCHAR(300) NOT NULL, 
	key_id VARCHAR(36), 
	key_prefix VARCHAR(24), 
	address VARCHAR(64), 
	action VARCHAR(64) NOT NULL, 
	resource_kind VARCHAR(32) NOT NULL, 
	resource_id VARCHAR(300) NOT NULL, 
	resource_name VARCHAR(300) NOT NULL, 
	space_id VARCHAR(36), 
	before_digest VARCHAR(64), 
	after_digest VARCHAR(64), 
	content_digest VARCHAR(64) NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_audit_events PRIMARY KEY (tenant_id, seq), 
	CONSTRAINT fk_audit_events_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id)
)
--
CREATE TABLE "assistants" (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	description TEXT NOT NULL, 
	instructions TEXT NOT NULL, 
	model VARCHAR(300) NOT NULL, 
	temperature FLOAT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_assistants PRIMARY KEY (id), 
	CONSTRAINT fk_assistants_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_assistants_space_id_name UNIQUE (space_id, name)
)
--
CREATE TABLE own_components (
	tenant_id VARCHAR(36) NOT NULL, 
	code_hash VARCHAR(64) NOT NULL, 
	type VARCHAR(64) NOT NULL, 
	template JSON NOT NULL, 
	manifest JSON NOT NULL, 
	checked_at BIGINT NOT NULL, 
	CONSTRAINT pk_own_components PRIMARY KEY (tenant_id, code_hash), 
	CONSTRAINT fk_own_components_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE codev_instances (
	tenant_id VARCHAR(36) NOT NULL, 
	id VARCHAR(100) NOT NULL, 
	endpoint TEXT NOT NULL, 
	key_variable VARCHAR(200) NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_codev_instances PRIMARY KEY (tenant_id, id), 
	CONSTRAINT fk_codev_instances_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE codev_patterns (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	domain VARCHAR(40) NOT NULL, 
	name VARCHAR(300) NOT NULL, 
	requirement TEXT NOT NULL, 
	definition JSON NOT NULL, 
	session_id VARCHAR(36), 
	success_count INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, digest VARCHAR(64), 
	CONSTRAINT pk_codev_patterns PRIMARY KEY (id), 
	CONSTRAINT fk_codev_patterns_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE codev_sessions (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	domain VARCHAR(40) NOT NULL, 
	instance_id VARCHAR(100) NOT NULL, 
	requirement TEXT NOT NULL, 
	model VARCHAR(300) NOT NULL, 
	flow_id VARCHAR(100), 
	flow_name VARCHAR(300) NOT NULL, 
	status VARCHAR(20) NOT NULL, 
	phase VARCHAR(30) NOT NULL, 
	iteration INTEGER NOT NULL, 
	interrupt JSON, 
	answer JSON, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	stop_reason TEXT NOT NULL, 
	options JSON NOT NULL, 
	webhook_url TEXT NOT NULL, 
	events INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, due_at BIGINT, event VARCHAR(200), worker_id VARCHAR(64), lease_until BIGINT, attempts INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_codev_sessions PRIMARY KEY (id), 
	CONSTRAINT fk_codev_sessions_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE codev_events (
	session_id VARCHAR(36) NOT NULL, 
	number INTEGER NOT NULL, 
	kind VARCHAR(30) NOT NULL, 
	data JSON NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_codev_events PRIMARY KEY (session_id, number), 
	CONSTRAINT fk_codev_events_session_id FOREIGN KEY(session_id) REFERENCES codev_sessions (id) ON DELETE CASCADE
)
--
CREATE TABLE codev_writes (
	id VARCHAR(36) NOT NULL, 
	session_id VARCHAR(36) NOT NULL, 
	call_key VARCHAR(200) NOT NULL, 
	number INTEGER NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	iteration INTEGER NOT NULL, 
	tool VARCHAR(100) NOT NULL, 
	summary TEXT NOT NULL, 
	flow_id VARCHAR(100), 
	"before" TEXT, 
	change TEXT NOT NULL, 
	after_mark VARCHAR(64), 
	answer JSON, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_codev_writes PRIMARY KEY (id), 
	CONSTRAINT fk_codev_writes_session_id FOREIGN KEY(session_id) REFERENCES codev_sessions (id) ON DELETE CASCADE, 
	CONSTRAINT uq_codev_writes_call_key UNIQUE (call_key)
)
--
CREATE TABLE flow_tests (
	flow_id VARCHAR(36) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	position INTEGER NOT NULL, 
	"case" JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_flow_tests PRIMARY KEY (flow_id, name), 
	CONSTRAINT fk_flow_tests_flow_id_tenant_id FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE flow_test_results (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	logic_checksum VARCHAR(64) NOT NULL, 
	set_checksum VARCHAR(64) NOT NULL, 
	trials INTEGER NOT NULL, 
	"of" INTEGER NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	reason TEXT NOT NULL, 
	started_by VARCHAR(36), 
	lease_until BIGINT, 
	started_at BIGINT NOT NULL, 
	finished_at BIGINT, due_at BIGINT, event VARCHAR(200), worker_id VARCHAR(64), attempts INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_flow_test_results PRIMARY KEY (id), 
	CONSTRAINT ck_flow_test_results_status_known CHECK (status IN ('running', 'passed', 'failed', 'cancelled')), 
	CONSTRAINT ck_flow_test_results_trials_bounded CHECK (trials BETWEEN 1 AND 10), 
	CONSTRAINT fk_flow_test_results_flow_id_tenant_id FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_flow_test_results_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE flow_test_trials (
	result_id VARCHAR(36) NOT NULL, 
	position INTEGER NOT NULL, 
	trial INTEGER NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	passed BOOLEAN NOT NULL, 
	misses JSON NOT NULL, 
	answer TEXT NOT NULL, 
	error TEXT NOT NULL, 
	run_id VARCHAR(36) NOT NULL, 
	ms INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	CONSTRAINT pk_flow_test_trials PRIMARY KEY (result_id, position, trial), 
	CONSTRAINT fk_flow_test_trials_result_id_tenant_id FOREIGN KEY(result_id, tenant_id) REFERENCES flow_test_results (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE codev_pattern_words (
	tenant_id VARCHAR(36) NOT NULL, 
	word VARCHAR(40) NOT NULL, 
	pattern_id VARCHAR(36) NOT NULL, 
	weight INTEGER NOT NULL, 
	CONSTRAINT pk_codev_pattern_words PRIMARY KEY (tenant_id, word, pattern_id), 
	CONSTRAINT fk_codev_pattern_words_pattern_id FOREIGN KEY(pattern_id) REFERENCES codev_patterns (id) ON DELETE CASCADE
)
--
CREATE TABLE codev_pattern_uses (
	pattern_id VARCHAR(36) NOT NULL, 
	session_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	counted BOOLEAN NOT NULL, 
	CONSTRAINT pk_codev_pattern_uses PRIMARY KEY (pattern_id, session_id), 
	CONSTRAINT fk_codev_pattern_uses_pattern_id FOREIGN KEY(pattern_id) REFERENCES codev_patterns (id) ON DELETE CASCADE
)
--
CREATE TABLE idempotency_keys (
	tenant_id VARCHAR(36) NOT NULL, 
	"key" VARCHAR(400) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	resource_id VARCHAR(64) NOT NULL, 
	answer TEXT, 
	pending_until BIGINT, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_idempotency_keys PRIMARY KEY (tenant_id, "key"), 
	CONSTRAINT fk_idempotency_keys_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE flow_step_calls (
	flow_run_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	attempt_no INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	answer BLOB NOT NULL, 
	tokens_input INTEGER, 
	tokens_output INTEGER, 
	answered_at BIGINT NOT NULL, 
	CONSTRAINT pk_flow_step_calls PRIMARY KEY (flow_run_id, flow_id, step_id, attempt_no, seq), 
	CONSTRAINT fk_flow_step_calls_flow_run_id_flow_id_step_id_attempt_no FOREIGN KEY(flow_run_id, flow_id, step_id, attempt_no) REFERENCES flow_step_attempts (flow_run_id, flow_id, step_id, attempt_no) ON DELETE CASCADE
)
--
CREATE TABLE flow_run_events (
	flow_run_id VARCHAR(36) NOT NULL, 
	seq INTEGER NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	step_id VARCHAR(64), 
	attempt INTEGER, 
	at BIGINT NOT NULL, 
	data JSON, 
	CONSTRAINT pk_flow_run_events PRIMARY KEY (flow_run_id, seq), 
	CONSTRAINT fk_flow_run_events_flow_run_id FOREIGN KEY(flow_run_id) REFERENCES flow_runs (id) ON DELETE CASCADE
)
 WITHOUT ROWID


--
CREATE TABLE scheduled_jobs (
	name VARCHAR(64) NOT NULL, 
	started_at BIGINT, 
	finished_at BIGINT, 
	outcome JSON, 
	due_at BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_scheduled_jobs PRIMARY KEY (name)
)
--
CREATE TABLE codev_notices (
	id VARCHAR(36) NOT NULL, 
	session_id VARCHAR(36) NOT NULL, 
	interrupt_id VARCHAR(100) NOT NULL, 
	due_at BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_codev_notices PRIMARY KEY (id), 
	CONSTRAINT fk_codev_notices_session_id FOREIGN KEY(session_id) REFERENCES codev_sessions (id) ON DELETE CASCADE
)
--
CREATE TABLE variables (
	id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36), 
	tenant_id VARCHAR(36) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	token BLOB NOT NULL, 
	secret BOOLEAN NOT NULL, 
	hosts JSON, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_variables PRIMARY KEY (id), 
	CONSTRAINT fk_variables_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT fk_variables_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE totp_authenticators (
	user_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	secret BLOB NOT NULL, 
	created_at BIGINT NOT NULL, 
	confirmed_at BIGINT, 
	last_step BIGINT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_totp_authenticators PRIMARY KEY (user_id), 
	CONSTRAINT fk_totp_authenticators_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE recovery_codes (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	code_hash VARCHAR(64) NOT NULL, 
	used_at BIGINT, 
	CONSTRAINT pk_recovery_codes PRIMARY KEY (id), 
	CONSTRAINT fk_recovery_codes_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE secret_reads (
	flow_run_id VARCHAR(36) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	source VARCHAR(16) NOT NULL, 
	at BIGINT NOT NULL, 
	CONSTRAINT pk_secret_reads PRIMARY KEY (flow_run_id, name), 
	CONSTRAINT ck_secret_reads_ck_secret_reads_source_known CHECK (source IN ('space', 'organisation', 'server')), 
	CONSTRAINT fk_secret_reads_flow_run_id_tenant_id FOREIGN KEY(flow_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE passkeys (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	credential_id BLOB NOT NULL, 
	public_key BLOB NOT NULL, 
	sign_count BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	last_used_at BIGINT, 
	CONSTRAINT pk_passkeys PRIMARY KEY (id), 
	CONSTRAINT fk_passkeys_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_passkeys_credential_id UNIQUE (credential_id)
)
--
CREATE TABLE passkey_challenges (
	token_hash VARCHAR(64) NOT NULL, 
	challenge BLOB NOT NULL, 
	purpose VARCHAR(16) NOT NULL, 
	session_id VARCHAR(36), 
	expires_at BIGINT NOT NULL, 
	CONSTRAINT pk_passkey_challenges PRIMARY KEY (token_hash)
)
--
CREATE TABLE model_servers (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36), 
	name VARCHAR(64) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	address TEXT NOT NULL, 
	sealed BLOB, 
	secret_names JSON NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_model_servers PRIMARY KEY (id), 
	CONSTRAINT ck_model_servers_ck_model_servers_kind_known CHECK (kind IN ('openai', 'ollama')), 
	CONSTRAINT fk_model_servers_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT fk_model_servers_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE model_facts (
	tenant_id VARCHAR(36) NOT NULL, 
	provider VARCHAR(64) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	facts JSON NOT NULL, 
	CONSTRAINT pk_model_facts PRIMARY KEY (tenant_id, provider, name), 
	CONSTRAINT fk_model_facts_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE model_roles (
	tenant_id VARCHAR(36) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	models JSON NOT NULL, 
	CONSTRAINT pk_model_roles PRIMARY KEY (tenant_id, role), 
	CONSTRAINT ck_model_roles_ck_model_roles_role_known CHECK (role IN ('default', 'assistant', 'codev', 'step', 'fallback')), 
	CONSTRAINT fk_model_roles_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE directories (
	tenant_id VARCHAR(36) NOT NULL, 
	token_id VARCHAR(36), 
	prefix VARCHAR(24), 
	token_hash VARCHAR(64), 
	networks JSON, 
	token_created_at BIGINT, 
	last_used_at BIGINT, 
	last_used_address VARCHAR(64), 
	last_change_at BIGINT, 
	CONSTRAINT pk_directories PRIMARY KEY (tenant_id), 
	CONSTRAINT fk_directories_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT uq_directories_token_hash UNIQUE (token_hash)
)
--
CREATE TABLE directory_users (
	user_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_name VARCHAR(254) NOT NULL, 
	user_name_key VARCHAR(254) NOT NULL, 
	external_id VARCHAR(255), 
	formatted VARCHAR(200), 
	given_name VARCHAR(200), 
	family_name VARCHAR(200), 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_directory_users PRIMARY KEY (user_id), 
	CONSTRAINT fk_directory_users_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_directory_users_user_id_tenant_id UNIQUE (user_id, tenant_id)
)
--
CREATE TABLE directory_groups (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	name_key VARCHAR(400) NOT NULL, 
	external_id VARCHAR(255), 
	revision BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_directory_groups PRIMARY KEY (id), 
	CONSTRAINT fk_directory_groups_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT uq_directory_groups_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE directory_group_members (
	group_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	CONSTRAINT pk_directory_group_members PRIMARY KEY (group_id, user_id), 
	CONSTRAINT fk_directory_group_members_group_id_tenant_id FOREIGN KEY(group_id, tenant_id) REFERENCES directory_groups (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_directory_group_members_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES directory_users (user_id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE directory_group_roles (
	group_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	CONSTRAINT pk_directory_group_roles PRIMARY KEY (group_id, space_id), 
	CONSTRAINT ck_directory_group_roles_ck_directory_group_roles_role CHECK (role IN ('viewer', 'runner', 'editor', 'publisher', 'owner')), 
	CONSTRAINT fk_directory_group_roles_group_id_tenant_id FOREIGN KEY(group_id, tenant_id) REFERENCES directory_groups (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_directory_group_roles_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE installation_keys (
	id VARCHAR(16) NOT NULL, 
	purpose VARCHAR(16) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	public_key VARCHAR(64), 
	created_at BIGINT, 
	activated_at BIGINT, 
	replaced_at BIGINT, 
	retired_at BIGINT, 
	revoked_at BIGINT, 
	reason TEXT, 
	progress JSON, 
	due_at BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_installation_keys PRIMARY KEY (id), 
	CONSTRAINT ck_installation_keys_ck_installation_keys_purpose_is_known CHECK (purpose IN ('secrets', 'evidence')), 
	CONSTRAINT ck_installation_keys_ck_installation_keys_state_is_known CHECK (state IN ('prepared', 'current', 'old', 'retired', 'revoked'))
)
--
CREATE TABLE key_readers (
	process_id VARCHAR(64) NOT NULL, 
	seen_at BIGINT NOT NULL, 
	key_ids JSON NOT NULL, 
	writes_with JSON NOT NULL, 
	CONSTRAINT pk_key_readers PRIMARY KEY (process_id)
)
--
CREATE TABLE assistant_conversations (
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	session_hash VARCHAR(64) NOT NULL, 
	turns TEXT NOT NULL, 
	used_at BIGINT NOT NULL, 
	CONSTRAINT pk_assistant_conversations PRIMARY KEY (tenant_id, user_id, session_hash), 
	CONSTRAINT fk_assistant_conversations_user_id_tenant_id FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE flow_drafts (
	flow_id VARCHAR(36) NOT NULL, 
	revision INTEGER NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	definition JSON NOT NULL, 
	restores INTEGER, 
	saved_at BIGINT NOT NULL, 
	CONSTRAINT pk_flow_drafts PRIMARY KEY (flow_id, revision), 
	CONSTRAINT fk_flow_drafts_flow_id_tenant_id FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE data_keys (
	id VARCHAR(16) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	wrapped BLOB, 
	created_at BIGINT NOT NULL, 
	destroyed_at BIGINT, 
	CONSTRAINT pk_data_keys PRIMARY KEY (id), 
	CONSTRAINT fk_data_keys_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT uq_data_keys_id_tenant_id UNIQUE (id, tenant_id), 
	CONSTRAINT ck_data_keys_ck_data_keys_state_is_known CHECK (state IN ('active', 'old', 'destroyed')), 
	CONSTRAINT ck_data_keys_ck_data_keys_destroyed_has_no_key CHECK ((wrapped IS NULL) = (state = 'destroyed'))
)
--
CREATE TABLE quotas (
	tenant_id VARCHAR(36) NOT NULL, 
	scope VARCHAR(16) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	quota VARCHAR(32) NOT NULL, 
	most BIGINT NOT NULL, 
	CONSTRAINT pk_quotas PRIMARY KEY (tenant_id, scope, space_id, quota), 
	CONSTRAINT ck_quotas_ck_quotas_scope_known CHECK (scope IN ('space', 'tenant', 'visitor')), 
	CONSTRAINT ck_quotas_ck_quotas_quota_known CHECK (quota IN ('runs', 'runs_per_hour', 'tokens_per_day', 'tokens_per_month', 'storage_bytes')), 
	CONSTRAINT ck_quotas_ck_quotas_most_not_negative CHECK (most >= 0), 
	CONSTRAINT fk_quotas_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE approvals (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	flow_run_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	round INTEGER NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	content BLOB NOT NULL, 
	content_hash VARCHAR(64) NOT NULL, 
	assignees JSON NOT NULL, 
	needed INTEGER NOT NULL, 
	approvals INTEGER NOT NULL, 
	barred_user_id VARCHAR(36), 
	due_at BIGINT, 
	created_at BIGINT NOT NULL, 
	decided_at BIGINT, scope VARCHAR(100) DEFAULT '' NOT NULL, tool VARCHAR(255) DEFAULT '' NOT NULL, escalates_at BIGINT, escalation JSON, classification INTEGER, 
	CONSTRAINT pk_approvals PRIMARY KEY (id), 
	CONSTRAINT ck_approvals_status_known CHECK (status IN ('pending', 'approved', 'rejected', 'timed_out')), 
	CONSTRAINT fk_approvals_flow_run_id_tenant_id_flow_runs FOREIGN KEY(flow_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_approvals_flow_run_id_step_id_round UNIQUE (flow_run_id, step_id, round), 
	CONSTRAINT uq_approvals_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE approval_decisions (
	approval_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_name VARCHAR(300) NOT NULL, 
	decision VARCHAR(16) NOT NULL, 
	response BLOB NOT NULL, 
	response_hash VARCHAR(64) NOT NULL, 
	shown_hash VARCHAR(64) NOT NULL, 
	key_id VARCHAR(36), 
	address VARCHAR(64), 
	decided_at BIGINT NOT NULL, outside VARCHAR(200), 
	CONSTRAINT pk_approval_decisions PRIMARY KEY (approval_id, user_id), 
	CONSTRAINT ck_approval_decisions_decision_known CHECK (decision IN ('approve', 'reject')), 
	CONSTRAINT fk_approval_decisions_approval_id_tenant_id_approvals FOREIGN KEY(approval_id, tenant_id) REFERENCES approvals (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE sent_events (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	correlation VARCHAR(500) NOT NULL, 
	event_key VARCHAR(255) NOT NULL, 
	deliver VARCHAR(8) NOT NULL, 
	content BLOB NOT NULL, 
	content_hash VARCHAR(64) NOT NULL, 
	size_bytes INTEGER NOT NULL, 
	classification INTEGER, 
	outside JSON NOT NULL, 
	sender JSON NOT NULL, 
	flow_run_id VARCHAR(36), 
	received_at BIGINT NOT NULL, 
	keep_until BIGINT NOT NULL, 
	deliveries INTEGER NOT NULL, followed BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_sent_events PRIMARY KEY (id), 
	CONSTRAINT ck_sent_events_deliver_known CHECK (deliver IN ('one', 'all')), 
	CONSTRAINT fk_sent_events_space_id_tenant_id_spaces FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_sent_events_space_id_event_key UNIQUE (space_id, event_key)
)
--
CREATE TABLE event_waits (
	flow_run_id VARCHAR(36) NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	correlation VARCHAR(500) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	created_at BIGINT NOT NULL, 
	due_at BIGINT, 
	settled_at BIGINT, 
	event_id VARCHAR(36), 
	received_at BIGINT, 
	content BLOB, 
	content_hash VARCHAR(64), 
	classification INTEGER, 
	outside JSON, 
	sender JSON, 
	CONSTRAINT pk_event_waits PRIMARY KEY (flow_run_id, step_id), 
	CONSTRAINT ck_event_waits_status_known CHECK (status IN ('waiting', 'received', 'timed_out')), 
	CONSTRAINT fk_event_waits_flow_run_id_tenant_id_flow_runs FOREIGN KEY(flow_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE flow_states (
	flow_id VARCHAR(36) NOT NULL, 
	draft BOOLEAN NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	size INTEGER NOT NULL, 
	content BLOB NOT NULL, 
	changed_at BIGINT NOT NULL, classification INTEGER, value_type VARCHAR(16), 
	CONSTRAINT pk_flow_states PRIMARY KEY (flow_id, draft, name), 
	CONSTRAINT fk_flow_states_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE flow_state_values (
	flow_id VARCHAR(36) NOT NULL, 
	draft BOOLEAN NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	version INTEGER NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	content BLOB NOT NULL, 
	flow_run_id VARCHAR(36), 
	step_id VARCHAR(64), 
	user_id VARCHAR(36), 
	written_at BIGINT NOT NULL, classification INTEGER, 
	CONSTRAINT pk_flow_state_values PRIMARY KEY (flow_id, draft, name, version), 
	CONSTRAINT fk_flow_state_values_flow_id_draft_name_flow_states FOREIGN KEY(flow_id, draft, name) REFERENCES flow_states (flow_id, draft, name) ON DELETE CASCADE, 
	CONSTRAINT uq_flow_state_values_flow_run_id_step_id UNIQUE (flow_run_id, step_id)
)
--
CREATE TABLE budget_accounts (
	subject VARCHAR(80) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	flow_run_id VARCHAR(36), 
	used BIGINT NOT NULL, 
	changed_at BIGINT NOT NULL, 
	CONSTRAINT pk_budget_accounts PRIMARY KEY (subject, kind), 
	CONSTRAINT fk_budget_accounts_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_budget_accounts_flow_run_id_tenant_id_flow_runs FOREIGN KEY(flow_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT ck_budget_accounts_used_not_negative CHECK (used >= 0)
)
--
CREATE TABLE run_slots (
	tenant_id VARCHAR(36) NOT NULL, 
	name VARCHAR(320) NOT NULL, 
	flow_run_id VARCHAR(36) NOT NULL, 
	step_id VARCHAR(64) NOT NULL, 
	most INTEGER NOT NULL, 
	priority INTEGER NOT NULL, 
	requested_at BIGINT NOT NULL, 
	granted_at BIGINT, 
	CONSTRAINT pk_run_slots PRIMARY KEY (tenant_id, name, flow_run_id, step_id), 
	CONSTRAINT fk_run_slots_flow_run_id_tenant_id_flow_runs FOREIGN KEY(flow_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE failure_handlers (
	failed_run_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	handler_run_id VARCHAR(36) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	problem TEXT, 
	created_at BIGINT NOT NULL, 
	claimed_at BIGINT NOT NULL, 
	CONSTRAINT pk_failure_handlers PRIMARY KEY (failed_run_id), 
	CONSTRAINT uq_failure_handlers_handler_run_id UNIQUE (handler_run_id), 
	CONSTRAINT fk_failure_handlers_failed_run_id_tenant_id_flow_runs FOREIGN KEY(failed_run_id, tenant_id) REFERENCES flow_runs (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT ck_failure_handlers_status_known CHECK (status IN ('due', 'started', 'refused'))
)
--
CREATE TABLE host_circuits (
	tenant_id VARCHAR(36) NOT NULL, 
	host VARCHAR(300) NOT NULL, 
	failures INTEGER NOT NULL, 
	since BIGINT NOT NULL, 
	open_until BIGINT, 
	probe_until BIGINT, 
	last_error VARCHAR(64) NOT NULL, 
	changed_at BIGINT NOT NULL, 
	CONSTRAINT pk_host_circuits PRIMARY KEY (tenant_id, host), 
	CONSTRAINT fk_host_circuits_tenant_id_tenants FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE approval_notices (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	approval_id VARCHAR(36) NOT NULL, 
	number INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	target BLOB NOT NULL, 
	url_shown TEXT NOT NULL, 
	idempotency_key VARCHAR(64) NOT NULL, 
	last_status INTEGER, 
	error_code VARCHAR(64), 
	error_message TEXT, 
	created_at BIGINT NOT NULL, 
	sent_at BIGINT, 
	due_at BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	attempts INTEGER DEFAULT '0' NOT NULL, connection VARCHAR(64), link_id VARCHAR(36), 
	CONSTRAINT pk_approval_notices PRIMARY KEY (id), 
	CONSTRAINT ck_approval_notices_kind_known CHECK (kind IN ('asked', 'reminder', 'escalated')), 
	CONSTRAINT ck_approval_notices_status_known CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')), 
	CONSTRAINT fk_approval_notices_approval_id_tenant_id_approvals FOREIGN KEY(approval_id, tenant_id) REFERENCES approvals (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_approval_notices_approval_id_number UNIQUE (approval_id, number)
)
--
CREATE TABLE approval_links (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	approval_id VARCHAR(36) NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	recipient VARCHAR(200) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT NOT NULL, 
	used_at BIGINT, 
	CONSTRAINT pk_approval_links PRIMARY KEY (id), 
	CONSTRAINT fk_approval_links_approval_id_tenant_id_approvals FOREIGN KEY(approval_id, tenant_id) REFERENCES approvals (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_approval_links_token_hash UNIQUE (token_hash)
)
--
CREATE TABLE connections (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	owner_id VARCHAR(36), 
	name VARCHAR(64) NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	fields JSON NOT NULL, 
	sealed BLOB, 
	secret_names JSON NOT NULL, 
	hosts JSON NOT NULL, 
	classification INTEGER, 
	status VARCHAR(12) NOT NULL, 
	error_message TEXT, 
	tested_at BIGINT, 
	last_used_at BIGINT, 
	expires_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, rejected_at BIGINT, max_concurrent INTEGER, 
	CONSTRAINT pk_connections PRIMARY KEY (id), 
	CONSTRAINT ck_connections_status_known CHECK (status IN ('untested', 'ready', 'failed', 'unauthorized', 'pending')), 
	CONSTRAINT fk_connections_space_id_tenant_id_spaces FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_connections_owner_id_users FOREIGN KEY(owner_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_connections_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE connection_tokens (
	connection_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	sealed BLOB, 
	scopes TEXT NOT NULL, 
	expires_at BIGINT, 
	revision INTEGER NOT NULL, 
	lease VARCHAR(36), 
	lease_until BIGINT, 
	CONSTRAINT pk_connection_tokens PRIMARY KEY (connection_id), 
	CONSTRAINT fk_connection_tokens_connection_id_tenant_id_connections FOREIGN KEY(connection_id, tenant_id) REFERENCES connections (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE connection_authorizations (
	state_hash VARCHAR(64) NOT NULL, 
	connection_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	sealed BLOB NOT NULL, 
	expires_at BIGINT NOT NULL, 
	CONSTRAINT pk_connection_authorizations PRIMARY KEY (state_hash), 
	CONSTRAINT fk_connection_authorizations_connection_id_tenant_id_connections FOREIGN KEY(connection_id, tenant_id) REFERENCES connections (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_connection_authorizations_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)
--
CREATE TABLE triggers (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	name VARCHAR(120) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	config JSON NOT NULL, 
	policies JSON NOT NULL, 
	input JSON NOT NULL, 
	owner_user_id VARCHAR(36), 
	enabled BOOLEAN NOT NULL, 
	paused_reason VARCHAR(500) NOT NULL, 
	resumed_at BIGINT NOT NULL, 
	secret BLOB, 
	address VARCHAR(64), 
	catching_until BIGINT, 
	caught BLOB, 
	cursor_at BIGINT NOT NULL, 
	next_at BIGINT, 
	created_by_user_id VARCHAR(36), 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	due_at BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	attempts INTEGER DEFAULT '0' NOT NULL, poll_cursor TEXT, poll_failures INTEGER DEFAULT '0' NOT NULL, poll_error VARCHAR(500) DEFAULT '' NOT NULL, polled_at BIGINT, submissions INTEGER DEFAULT '0' NOT NULL, only_polled VARCHAR(500) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_triggers PRIMARY KEY (id), 
	CONSTRAINT ck_triggers_kind_known CHECK (kind IN ('schedule', 'webhook', 'flow', 'event', 'manual', 'feed', 'page', 'folder', 'rows', 'mail', 'api', 'form', 'stream', 'queue', 'topic')), 
	CONSTRAINT fk_triggers_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_triggers_owner_user_id_users FOREIGN KEY(owner_user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT uq_triggers_id_tenant_id UNIQUE (id, tenant_id), 
	CONSTRAINT uq_triggers_flow_id_name UNIQUE (flow_id, name)
)
--
CREATE TABLE trigger_occurrences (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	trigger_id VARCHAR(36) NOT NULL, 
	occurrence_key VARCHAR(255) NOT NULL, 
	due_at BIGINT, 
	created_at BIGINT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	reason VARCHAR(64) NOT NULL, 
	message TEXT NOT NULL, 
	flow_run_id VARCHAR(36), 
	backfill_id VARCHAR(36), 
	content BLOB, at_once INTEGER, 
	CONSTRAINT pk_trigger_occurrences PRIMARY KEY (id), 
	CONSTRAINT ck_trigger_occurrences_status_known CHECK (status IN ('started', 'queued', 'skipped', 'cancelled')), 
	CONSTRAINT fk_trigger_occurrences_trigger_id_tenant_id_triggers FOREIGN KEY(trigger_id, tenant_id) REFERENCES triggers (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_trigger_occurrences_trigger_id_occurrence_key UNIQUE (trigger_id, occurrence_key)
)
--
CREATE TABLE knowledge_documents (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	base_id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	source VARCHAR(500) NOT NULL, 
	owner_user_id VARCHAR(36), 
	reader_role VARCHAR(16), 
	classification INTEGER NOT NULL, 
	language VARCHAR(16) NOT NULL, 
	version INTEGER NOT NULL, 
	generation INTEGER NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	problem TEXT NOT NULL, 
	notes JSON NOT NULL, 
	characters INTEGER NOT NULL, 
	pages INTEGER, 
	passages INTEGER NOT NULL, 
	passages_done INTEGER NOT NULL, 
	passages_added INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	due_at BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	attempts INTEGER DEFAULT '0' NOT NULL, tries INTEGER DEFAULT '0' NOT NULL, passages_embedded INTEGER DEFAULT 0 NOT NULL, embedding_tokens BIGINT DEFAULT 0 NOT NULL, retention_days INTEGER, parent_id VARCHAR(36), 
	CONSTRAINT pk_knowledge_documents PRIMARY KEY (id), 
	CONSTRAINT uq_knowledge_documents_base_id_name UNIQUE (base_id, name), 
	CONSTRAINT uq_knowledge_documents_id_tenant_id UNIQUE (id, tenant_id), 
	CONSTRAINT fk_knowledge_documents_base_id_tenant_id FOREIGN KEY(base_id, tenant_id) REFERENCES knowledge_bases (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT ck_knowledge_documents_status_known CHECK (status IN ('pending', 'indexing', 'ready', 'failed'))
)
--
CREATE TABLE knowledge_versions (
	document_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	file_id VARCHAR(36) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	size_bytes BIGINT NOT NULL, 
	media_type VARCHAR(255) NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_knowledge_versions PRIMARY KEY (document_id, version), 
	CONSTRAINT fk_knowledge_versions_document_id_tenant_id FOREIGN KEY(document_id, tenant_id) REFERENCES knowledge_documents (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE knowledge_readers (
	document_id VARCHAR(36) NOT NULL, 
	kind VARCHAR(8) NOT NULL, 
	reader_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	CONSTRAINT pk_knowledge_readers PRIMARY KEY (document_id, kind, reader_id), 
	CONSTRAINT fk_knowledge_readers_document_id_tenant_id FOREIGN KEY(document_id, tenant_id) REFERENCES knowledge_documents (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT ck_knowledge_readers_kind_known CHECK (kind IN ('user', 'group'))
)
--
CREATE TABLE knowledge_passages (
	id INTEGER NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	base_id VARCHAR(36) NOT NULL, 
	document_id VARCHAR(36) NOT NULL, 
	generation INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	ordinal INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	core INTEGER NOT NULL, 
	"end" INTEGER NOT NULL, 
	page INTEGER, 
	context TEXT NOT NULL, 
	text TEXT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	tokens INTEGER NOT NULL, 
	terms TEXT NOT NULL, marks JSON, 
	CONSTRAINT pk_knowledge_passages PRIMARY KEY (id), 
	CONSTRAINT uq_knowledge_passages_document_id_generation_ordinal UNIQUE (document_id, generation, ordinal), 
	CONSTRAINT fk_knowledge_passages_document_id_tenant_id FOREIGN KEY(document_id, tenant_id) REFERENCES knowledge_documents (id, tenant_id) ON DELETE CASCADE
)
--
CREATE VIRTUAL TABLE knowledge_index USING fts5(terms, base_id, content='knowledge_passages', content_rowid='id',
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '-'")
--
CREATE TABLE flow_tags (
	flow_id VARCHAR(36) NOT NULL, 
	tag VARCHAR(40) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	CONSTRAINT pk_flow_tags PRIMARY KEY (flow_id, tag), 
	CONSTRAINT fk_flow_tags_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE flow_favourites (
	flow_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	CONSTRAINT pk_flow_favourites PRIMARY KEY (flow_id, user_id), 
	CONSTRAINT fk_flow_favourites_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_favourites_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)
--
CREATE TABLE flow_comments (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	node_id VARCHAR(64), 
	author_user_id VARCHAR(36), 
	text VARCHAR(4000) NOT NULL, 
	created_at BIGINT NOT NULL, 
	edited_at BIGINT, 
	resolved_at BIGINT, 
	CONSTRAINT pk_flow_comments PRIMARY KEY (id), 
	CONSTRAINT fk_flow_comments_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_comments_author_user_id_users FOREIGN KEY(author_user_id) REFERENCES users (id) ON DELETE SET NULL, 
	CONSTRAINT uq_flow_comments_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE flow_comment_mentions (
	comment_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	CONSTRAINT pk_flow_comment_mentions PRIMARY KEY (comment_id, user_id), 
	CONSTRAINT fk_flow_comment_mentions_comment_id_tenant_id_flow_comments FOREIGN KEY(comment_id, tenant_id) REFERENCES flow_comments (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_comment_mentions_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)
--
CREATE TABLE attention_dismissals (
	user_id VARCHAR(36) NOT NULL, 
	item_key VARCHAR(160) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	dismissed_at BIGINT NOT NULL, muted_until BIGINT, 
	CONSTRAINT pk_attention_dismissals PRIMARY KEY (user_id, item_key), 
	CONSTRAINT fk_attention_dismissals_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)
--
CREATE TABLE connection_apis (
	connection_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	title TEXT NOT NULL, 
	version VARCHAR(40) NOT NULL, 
	format VARCHAR(40) NOT NULL, 
	server TEXT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	skipped JSON NOT NULL, 
	skipped_count INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_connection_apis PRIMARY KEY (connection_id), 
	CONSTRAINT fk_connection_apis_connection_id_tenant_id FOREIGN KEY(connection_id, tenant_id) REFERENCES connections (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE connection_operations (
	connection_id VARCHAR(36) NOT NULL, 
	"key" VARCHAR(500) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	place INTEGER NOT NULL, 
	operation_id VARCHAR(200) NOT NULL, 
	search TEXT NOT NULL, 
	contract JSON, 
	sha256 VARCHAR(64) NOT NULL, 
	accepted_sha256 VARCHAR(64) NOT NULL, accepted JSON, 
	CONSTRAINT pk_connection_operations PRIMARY KEY (connection_id, "key"), 
	CONSTRAINT fk_connection_operations_connection_id_tenant_id FOREIGN KEY(connection_id, tenant_id) REFERENCES connections (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE knowledge_vectors (
	base_id VARCHAR(36) NOT NULL, 
	model VARCHAR(250) NOT NULL, 
	passage_id INTEGER NOT NULL, 
	document_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	vector BLOB NOT NULL, cluster INTEGER DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_knowledge_vectors PRIMARY KEY (base_id, model, passage_id), 
	CONSTRAINT fk_knowledge_vectors_passage_id FOREIGN KEY(passage_id) REFERENCES knowledge_passages (id) ON DELETE CASCADE
)
 WITHOUT ROWID


--
CREATE TABLE trigger_links (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	trigger_id VARCHAR(36) NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	label VARCHAR(200) NOT NULL, 
	created_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	used_at BIGINT, 
	revoked_at BIGINT, 
	occurrence_id VARCHAR(36), 
	CONSTRAINT pk_trigger_links PRIMARY KEY (id), 
	CONSTRAINT fk_trigger_links_trigger_id_tenant_id FOREIGN KEY(trigger_id, tenant_id) REFERENCES triggers (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE knowledge_questions (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	base_id VARCHAR(36) NOT NULL, 
	question TEXT NOT NULL, 
	document_ids JSON NOT NULL, 
	quote TEXT NOT NULL, 
	created_at BIGINT NOT NULL, answer TEXT DEFAULT '' NOT NULL, filters JSON DEFAULT '[]' NOT NULL, 
	CONSTRAINT pk_knowledge_questions PRIMARY KEY (id), 
	CONSTRAINT fk_knowledge_questions_base_id_tenant_id_knowledge_bases FOREIGN KEY(base_id, tenant_id) REFERENCES knowledge_bases (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE flow_conversations (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	position VARCHAR(36) NOT NULL, 
	used_at BIGINT NOT NULL, 
	CONSTRAINT pk_flow_conversations PRIMARY KEY (id), 
	CONSTRAINT fk_flow_conversations_user_id_tenant_id_users FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_flow_conversations_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE "knowledge_bases" (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	space_id VARCHAR(36) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	description TEXT NOT NULL, 
	passage_tokens INTEGER NOT NULL, 
	overlap_tokens INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	embedding_model VARCHAR(250) DEFAULT ('') NOT NULL, 
	searched_model VARCHAR(250) DEFAULT ('') NOT NULL, 
	rerank_model VARCHAR(250) DEFAULT '' NOT NULL, 
	rerank_candidates INTEGER DEFAULT 30 NOT NULL, retention_days INTEGER DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_knowledge_bases PRIMARY KEY (id), 
	CONSTRAINT uq_knowledge_bases_id_tenant_id UNIQUE (id, tenant_id), 
	CONSTRAINT uq_knowledge_bases_space_id_name UNIQUE (space_id, name), 
	CONSTRAINT fk_knowledge_bases_space_id_tenant_id FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE packs (
	name VARCHAR(40) NOT NULL, 
	version VARCHAR(20) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	manifest JSON NOT NULL, 
	key_id VARCHAR(16), 
	installed_at BIGINT NOT NULL, 
	CONSTRAINT pk_packs PRIMARY KEY (name)
)
--
CREATE TABLE pack_items (
	kind VARCHAR(16) NOT NULL, 
	"key" VARCHAR(100) NOT NULL, 
	pack VARCHAR(40) NOT NULL, 
	code_hash VARCHAR(64), 
	content JSON NOT NULL, 
	CONSTRAINT pk_pack_items PRIMARY KEY (kind, "key"), 
	CONSTRAINT fk_pack_items_pack FOREIGN KEY(pack) REFERENCES packs (name) ON DELETE CASCADE
)
--
CREATE TABLE pack_components (
	code_hash VARCHAR(64) NOT NULL, 
	pack VARCHAR(40) NOT NULL, 
	version VARCHAR(20) NOT NULL, 
	type VARCHAR(64) NOT NULL, 
	code TEXT NOT NULL, 
	template JSON NOT NULL, 
	manifest JSON NOT NULL, 
	CONSTRAINT pk_pack_components PRIMARY KEY (code_hash)
)
--
CREATE TABLE pack_signers (
	key_id VARCHAR(16) NOT NULL, 
	public_key VARCHAR(64) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	trusted_at BIGINT NOT NULL, 
	CONSTRAINT pk_pack_signers PRIMARY KEY (key_id)
)
--
CREATE TABLE alert_rules (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	name VARCHAR(120) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	language VARCHAR(2) NOT NULL, 
	space_id VARCHAR(36), 
	flow_id VARCHAR(36), 
	connection_id VARCHAR(36), 
	escalation_connection_id VARCHAR(36), 
	created_by_user_id VARCHAR(36), 
	threshold FLOAT NOT NULL, 
	window_seconds BIGINT NOT NULL, 
	quiet_seconds BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	escalation_seconds BIGINT, 
	muted_until BIGINT, 
	notified_at BIGINT, 
	fired_at BIGINT, 
	fewest_runs INTEGER NOT NULL, 
	notices INTEGER NOT NULL, 
	recipients JSON NOT NULL, 
	escalation_recipients JSON NOT NULL, 
	webhook BLOB, 
	webhook_shown TEXT NOT NULL, 
	notify_resolved BOOLEAN NOT NULL, 
	enabled BOOLEAN NOT NULL, 
	CONSTRAINT pk_alert_rules PRIMARY KEY (id), 
	CONSTRAINT ck_alert_rules_kind_known CHECK (kind IN ('failure', 'failure_rate', 'slow', 'silent', 'cost', 'queue', 'budget', 'burn_fast', 'burn_slow', 'dead_worker')), 
	CONSTRAINT fk_alert_rules_tenant_id_tenants FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT fk_alert_rules_space_id_tenant_id_spaces FOREIGN KEY(space_id, tenant_id) REFERENCES spaces (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_alert_rules_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_alert_rules_id_tenant_id UNIQUE (id, tenant_id)
)
--
CREATE TABLE alerts (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	rule_id VARCHAR(36) NOT NULL, 
	subject VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	pending VARCHAR(16) NOT NULL, 
	space_id VARCHAR(36), 
	acknowledged_by_user_id VARCHAR(36), 
	value FLOAT NOT NULL, 
	opened_at BIGINT NOT NULL, 
	seen_at BIGINT NOT NULL, 
	resolved_at BIGINT, 
	acknowledged_at BIGINT, 
	escalated_at BIGINT, 
	CONSTRAINT pk_alerts PRIMARY KEY (id), 
	CONSTRAINT ck_alerts_state_known CHECK (state IN ('open', 'acknowledged', 'resolved')), 
	CONSTRAINT ck_alerts_pending_known CHECK (pending IN ('', 'opened', 'resolved')), 
	CONSTRAINT fk_alerts_rule_id_tenant_id_alert_rules FOREIGN KEY(rule_id, tenant_id) REFERENCES alert_rules (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_alerts_rule_id_subject_opened_at UNIQUE (rule_id, subject, opened_at)
)
--
CREATE TABLE alert_notices (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	rule_id VARCHAR(36) NOT NULL, 
	channel VARCHAR(16) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	idempotency_key VARCHAR(64) NOT NULL, 
	error_code VARCHAR(64), 
	number INTEGER NOT NULL, 
	content JSON NOT NULL, 
	last_status INTEGER, 
	error_message TEXT, 
	created_at BIGINT NOT NULL, 
	sent_at BIGINT, 
	due_at BIGINT, 
	lease_until BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_alert_notices PRIMARY KEY (id), 
	CONSTRAINT ck_alert_notices_kind_known CHECK (kind IN ('opened', 'resolved', 'escalated')), 
	CONSTRAINT ck_alert_notices_channel_known CHECK (channel IN ('connection', 'webhook', 'escalation')), 
	CONSTRAINT ck_alert_notices_status_known CHECK (status IN ('pending', 'delivered', 'failed')), 
	CONSTRAINT fk_alert_notices_rule_id_tenant_id_alert_rules FOREIGN KEY(rule_id, tenant_id) REFERENCES alert_rules (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_alert_notices_rule_id_number_channel UNIQUE (rule_id, number, channel)
)
--
CREATE TABLE alert_evaluations (
	tenant_id VARCHAR(36) NOT NULL, 
	evaluated_at BIGINT, 
	steady_since BIGINT, 
	due_at BIGINT, 
	lease_until BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_alert_evaluations PRIMARY KEY (tenant_id), 
	CONSTRAINT fk_alert_evaluations_tenant_id_tenants FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
)
--
CREATE TABLE knowledge_sources (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	base_id VARCHAR(36) NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	owner_user_id VARCHAR(36) NOT NULL, 
	config JSON NOT NULL, 
	readers JSON NOT NULL, 
	classification INTEGER NOT NULL, 
	connection_level INTEGER DEFAULT 0 NOT NULL, 
	every_seconds INTEGER, 
	generation INTEGER NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	problem TEXT NOT NULL, 
	report JSON NOT NULL, 
	synced_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	due_at BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	attempts INTEGER DEFAULT '0' NOT NULL, document_metadata JSON, 
	CONSTRAINT pk_knowledge_sources PRIMARY KEY (id), 
	CONSTRAINT uq_knowledge_sources_base_id_name UNIQUE (base_id, name), 
	CONSTRAINT uq_knowledge_sources_id_tenant_id UNIQUE (id, tenant_id), 
	CONSTRAINT fk_knowledge_sources_base_id_tenant_id FOREIGN KEY(base_id, tenant_id) REFERENCES knowledge_bases (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT ck_knowledge_sources_status_known CHECK (status IN ('pending', 'running', 'ready', 'failed'))
)
--
CREATE TABLE knowledge_source_items (
	source_id VARCHAR(36) NOT NULL, 
	"key" VARCHAR(500) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	document_id VARCHAR(36), 
	version VARCHAR(300) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	problem TEXT NOT NULL, 
	note TEXT NOT NULL, 
	CONSTRAINT pk_knowledge_source_items PRIMARY KEY (source_id, "key"), 
	CONSTRAINT fk_knowledge_source_items_source_id_tenant_id FOREIGN KEY(source_id, tenant_id) REFERENCES knowledge_sources (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT fk_knowledge_source_items_document_id_tenant_id FOREIGN KEY(document_id, tenant_id) REFERENCES knowledge_documents (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE "knowledge_evaluations" (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	base_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	"limit" INTEGER NOT NULL, 
	passage_tokens INTEGER NOT NULL, 
	overlap_tokens INTEGER NOT NULL, 
	embedding_model VARCHAR(250) NOT NULL, 
	passages INTEGER NOT NULL, 
	skipped INTEGER NOT NULL, 
	measures JSON NOT NULL, 
	answers JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	rerank_model VARCHAR(250) DEFAULT ('') NOT NULL, 
	rerank_candidates INTEGER DEFAULT 0 NOT NULL, 
	query_model VARCHAR(250) DEFAULT '' NOT NULL, 
	queries INTEGER DEFAULT 0 NOT NULL, filters JSON DEFAULT '[]' NOT NULL, 
	CONSTRAINT pk_knowledge_evaluations PRIMARY KEY (id), 
	CONSTRAINT fk_knowledge_evaluations_base_id_tenant_id_knowledge_bases FOREIGN KEY(base_id, tenant_id) REFERENCES knowledge_bases (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE attention_assignments (
	tenant_id VARCHAR(36) NOT NULL, 
	item_key VARCHAR(160) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	assigned_at BIGINT NOT NULL, 
	CONSTRAINT pk_attention_assignments PRIMARY KEY (tenant_id, item_key), 
	CONSTRAINT fk_attention_assignments_tenant_id_tenants FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE, 
	CONSTRAINT fk_attention_assignments_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
)
--
CREATE TABLE saved_views (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36) NOT NULL, 
	place VARCHAR(16) NOT NULL, 
	name VARCHAR(80) NOT NULL, 
	settings JSON NOT NULL, 
	CONSTRAINT pk_saved_views PRIMARY KEY (id), 
	CONSTRAINT fk_saved_views_user_id_users FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_saved_views_user_id_place_name UNIQUE (user_id, place, name)
)
--
CREATE TABLE slos (
	id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	name VARCHAR(120) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	runs VARCHAR(16) NOT NULL, 
	target FLOAT NOT NULL, 
	seconds FLOAT, 
	window_days INTEGER NOT NULL, 
	counted_until BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	created_by_user_id VARCHAR(36), 
	due_at BIGINT, 
	event VARCHAR(200), 
	worker_id VARCHAR(64), 
	lease_until BIGINT, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_slos PRIMARY KEY (id), 
	CONSTRAINT ck_slos_kind_known CHECK (kind IN ('success', 'latency')), 
	CONSTRAINT ck_slos_runs_known CHECK (runs IN ('all', 'published', 'triggers')), 
	CONSTRAINT fk_slos_flow_id_tenant_id_flows FOREIGN KEY(flow_id, tenant_id) REFERENCES flows (id, tenant_id) ON DELETE CASCADE, 
	CONSTRAINT uq_slos_id_tenant_id UNIQUE (id, tenant_id), 
	CONSTRAINT uq_slos_flow_id_name UNIQUE (flow_id, name)
)
--
CREATE TABLE slo_counts (
	slo_id VARCHAR(36) NOT NULL, 
	at BIGINT NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	runs INTEGER NOT NULL, 
	good INTEGER NOT NULL, 
	CONSTRAINT pk_slo_counts PRIMARY KEY (slo_id, at), 
	CONSTRAINT fk_slo_counts_slo_id_tenant_id_slos FOREIGN KEY(slo_id, tenant_id) REFERENCES slos (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE "chat_feedback" (
	run_id VARCHAR(36) NOT NULL, 
	flow_id VARCHAR(36) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	user_id VARCHAR(36), 
	helpful BOOLEAN NOT NULL, 
	correction TEXT NOT NULL, 
	base_id VARCHAR(36) NOT NULL, 
	document_ids JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_chat_feedback PRIMARY KEY (run_id), 
	CONSTRAINT fk_chat_feedback_run_id_flow_id_flow_runs FOREIGN KEY(run_id, flow_id) REFERENCES flow_runs (id, flow_id) ON DELETE CASCADE, 
	CONSTRAINT fk_chat_feedback_user_id_tenant_id_users FOREIGN KEY(user_id, tenant_id) REFERENCES users (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE processes (
	id VARCHAR(64) NOT NULL, 
	parent_id VARCHAR(64), 
	kind VARCHAR(16) NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	pid INTEGER NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	started_at BIGINT NOT NULL, 
	seen_at BIGINT NOT NULL, 
	work JSON NOT NULL, 
	draining_at BIGINT, 
	hand_over_at BIGINT, 
	CONSTRAINT pk_processes PRIMARY KEY (id), 
	CONSTRAINT ck_processes_kind_known CHECK (kind IN ('server', 'worker'))
)
--
CREATE TABLE knowledge_vector_groups (
	base_id VARCHAR(36) NOT NULL, 
	model VARCHAR(250) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	epoch INTEGER NOT NULL, 
	vectors INTEGER NOT NULL, 
	size INTEGER NOT NULL, 
	centroids BLOB NOT NULL, 
	probes INTEGER NOT NULL, 
	recall FLOAT, 
	CONSTRAINT pk_knowledge_vector_groups PRIMARY KEY (base_id, model), 
	CONSTRAINT fk_knowledge_vector_groups_base_id_tenant_id FOREIGN KEY(base_id, tenant_id) REFERENCES knowledge_bases (id, tenant_id) ON DELETE CASCADE
)
--
CREATE TABLE knowledge_metadata (
	document_id VARCHAR(36) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	tenant_id VARCHAR(36) NOT NULL, 
	kind VARCHAR(8) NOT NULL, 
	text TEXT NOT NULL, 
	number FLOAT, 
	CONSTRAINT pk_knowledge_metadata PRIMARY KEY (document_id, "key"), 
	CONSTRAINT ck_knowledge_metadata_kind_known CHECK (kind IN ('text', 'number', 'date', 'boolean')), 
	CONSTRAINT fk_knowledge_metadata_document_id_knowledge_documents FOREIGN KEY(document_id, tenant_id) REFERENCES knowledge_documents (id, tenant_id) ON DELETE CASCADE
)
--
INSERT INTO "alembic_version" VALUES ('0092')
--
INSERT INTO "tenants" VALUES ('00000000-0000-7000-8000-000000000001', 'Default', CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER), 0)
--
INSERT INTO "users" VALUES ('00000000-0000-7000-8000-000000000003', '00000000-0000-7000-8000-000000000001', 'local', (SELECT created_at FROM tenants), NULL, 'admin', 1, NULL, NULL, NULL, '00000000-0000-7000-8000-000000000002', NULL, NULL, 'user')
--
INSERT INTO "spaces" VALUES ('00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001', 'Personal', '00000000-0000-7000-8000-000000000003', (SELECT created_at FROM tenants))
--
INSERT INTO "space_members" VALUES ('00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000003', '00000000-0000-7000-8000-000000000001', 'owner', (SELECT created_at FROM tenants), NULL, NULL)
--
CREATE INDEX ix_files_flow_run_id ON files (flow_run_id)
--
CREATE INDEX ix_files_owner_user_id ON files (owner_user_id)
--
CREATE INDEX ix_files_tenant_id_created_at ON files (tenant_id, created_at)
--
CREATE INDEX ix_spaces_owner_user_id ON spaces (owner_user_id)
--
CREATE INDEX ix_spaces_tenant_id_name ON spaces (tenant_id, name)
--
CREATE INDEX ix_flows_created_by_user_id ON flows (created_by_user_id)
--
CREATE INDEX ix_flows_owner_user_id ON flows (owner_user_id)
--
CREATE INDEX ix_flows_space_id_deleted_at ON flows (space_id, deleted_at)
--
CREATE INDEX ix_flows_tenant_id_updated_at ON flows (tenant_id, updated_at)
--
CREATE INDEX ix_flow_runs_tenant_id_created_at ON flow_runs (tenant_id, created_at)
--
CREATE INDEX ix_flow_runs_live ON flow_runs (created_at) WHERE status IN ('queued', 'running')
--
CREATE INDEX ix_flow_runs_failed ON flow_runs (finished_at) WHERE status = 'failed'
--
CREATE UNIQUE INDEX ix_users_email_tenant_id ON users (email, tenant_id)
--
CREATE UNIQUE INDEX ix_users_sso_subject_sso_issuer_tenant_id ON users (sso_subject, sso_issuer, tenant_id)
--
CREATE INDEX ix_space_members_user_id ON space_members (user_id)
--
CREATE INDEX ix_user_sessions_user_id ON user_sessions (user_id)
--
CREATE INDEX ix_user_sessions_expires_at ON user_sessions (expires_at)
--
CREATE INDEX ix_one_time_links_user_id ON one_time_links (user_id)
--
CREATE INDEX ix_api_keys_user_id ON api_keys (user_id)
--
CREATE INDEX ix_api_keys_tenant_id ON api_keys (tenant_id)
--
CREATE INDEX ix_audit_events_tenant_id_at ON audit_events (tenant_id, at)
--
CREATE INDEX ix_audit_events_tenant_id_resource_id ON audit_events (tenant_id, resource_id)
--
CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
--
CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
--
CREATE TRIGGER audit_events_no_replace BEFORE INSERT ON audit_events WHEN EXISTS (SELECT 1 FROM audit_events WHERE tenant_id = NEW.tenant_id AND seq = NEW.seq) BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
--
CREATE INDEX ix_files_space_id ON files (space_id)
--
CREATE INDEX ix_flow_runs_flow_id_id ON flow_runs (flow_id, id)
--
CREATE INDEX ix_codev_patterns_tenant_id_domain ON codev_patterns (tenant_id, domain)
--
CREATE INDEX ix_codev_sessions_tenant_id_created_at ON codev_sessions (tenant_id, created_at)
--
CREATE INDEX ix_codev_writes_session_id_number ON codev_writes (session_id, number)
--
CREATE INDEX ix_flow_test_results_flow_id_id ON flow_test_results (flow_id, id)
--
CREATE UNIQUE INDEX ix_codev_patterns_space_id_digest ON codev_patterns (space_id, digest)
--
CREATE INDEX ix_codev_pattern_words_pattern_id ON codev_pattern_words (pattern_id)
--
CREATE INDEX ix_idempotency_keys_created_at ON idempotency_keys (created_at)
--
CREATE INDEX ix_webhook_deliveries_due ON webhook_deliveries (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_webhook_deliveries_claimed ON webhook_deliveries (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_webhook_deliveries_event ON webhook_deliveries (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_scheduled_jobs_due ON scheduled_jobs (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_scheduled_jobs_claimed ON scheduled_jobs (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_scheduled_jobs_event ON scheduled_jobs (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_flow_test_results_due ON flow_test_results (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_flow_test_results_claimed ON flow_test_results (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_flow_test_results_event ON flow_test_results (event) WHERE event IS NOT NULL
--
CREATE TRIGGER flow_versions_guard_update BEFORE UPDATE ON flow_versions WHEN OLD.rowid <> NEW.rowid OR (OLD.flow_id IS NOT NEW.flow_id OR OLD.version IS NOT NEW.version OR OLD.tenant_id IS NOT NEW.tenant_id OR OLD.checksum IS NOT NEW.checksum OR OLD.logic_checksum IS NOT NEW.logic_checksum OR OLD.definition IS NOT NEW.definition OR OLD.headgate_version IS NOT NEW.headgate_version OR OLD.created_at IS NOT NEW.created_at) OR (OLD.release IS NOT NULL AND (NEW.release IS NULL OR NEW.release < OLD.release OR (NEW.release = OLD.release AND (OLD.release IS NOT NEW.release OR OLD.released_at IS NOT NEW.released_at OR OLD.release_notes IS NOT NEW.release_notes)))) BEGIN SELECT RAISE(ABORT, 'flow_versions: this row is immutable'); END
--
CREATE TRIGGER version_steps_guard_update BEFORE UPDATE ON version_steps WHEN OLD.rowid <> NEW.rowid OR 1 = 1 BEGIN SELECT RAISE(ABORT, 'version_steps: this row is immutable'); END
--
CREATE TRIGGER version_edges_guard_update BEFORE UPDATE ON version_edges WHEN OLD.rowid <> NEW.rowid OR 1 = 1 BEGIN SELECT RAISE(ABORT, 'version_edges: this row is immutable'); END
--
CREATE TRIGGER flow_step_attempts_guard_update BEFORE UPDATE ON flow_step_attempts WHEN OLD.rowid <> NEW.rowid OR (OLD.flow_run_id IS NOT NEW.flow_run_id OR OLD.flow_id IS NOT NEW.flow_id OR OLD.step_id IS NOT NEW.step_id OR OLD.attempt_no IS NOT NEW.attempt_no OR OLD.version IS NOT NEW.version OR OLD.tenant_id IS NOT NEW.tenant_id OR OLD.step_order IS NOT NEW.step_order OR OLD.started_at IS NOT NEW.started_at) OR (OLD.status <> 'started' AND ((OLD.status IS NOT NEW.status OR OLD.worker_id IS NOT NEW.worker_id OR OLD.error_code IS NOT NEW.error_code OR OLD.error_message IS NOT NEW.error_message OR OLD.finished_at IS NOT NEW.finished_at) OR OLD.record IS NOT NULL)) BEGIN SELECT RAISE(ABORT, 'flow_step_attempts: this row is immutable'); END
--
CREATE TRIGGER flow_versions_guard_release BEFORE UPDATE ON flow_versions WHEN EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = NEW.flow_id AND release = NEW.release AND version <> NEW.version) BEGIN SELECT RAISE(ABORT, 'flow_versions: this row is immutable'); END
--
CREATE TRIGGER flow_versions_guard_delete BEFORE DELETE ON flow_versions WHEN EXISTS (SELECT 1 FROM flows WHERE id = OLD.flow_id) BEGIN SELECT RAISE(ABORT, 'flow_versions: this row is immutable'); END
--
CREATE TRIGGER version_steps_guard_delete BEFORE DELETE ON version_steps WHEN EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = OLD.flow_id AND version = OLD.version) BEGIN SELECT RAISE(ABORT, 'version_steps: this row is immutable'); END
--
CREATE TRIGGER version_edges_guard_delete BEFORE DELETE ON version_edges WHEN EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = OLD.flow_id AND version = OLD.version) BEGIN SELECT RAISE(ABORT, 'version_edges: this row is immutable'); END
--
CREATE TRIGGER flow_step_attempts_guard_delete BEFORE DELETE ON flow_step_attempts WHEN EXISTS (SELECT 1 FROM flow_runs WHERE id = OLD.flow_run_id) AND EXISTS (SELECT 1 FROM version_steps WHERE flow_id = OLD.flow_id AND version = OLD.version AND step_id = OLD.step_id) BEGIN SELECT RAISE(ABORT, 'flow_step_attempts: this row is immutable'); END
--
CREATE TRIGGER flow_versions_guard_insert BEFORE INSERT ON flow_versions WHEN EXISTS (SELECT 1 FROM flow_versions WHERE rowid = NEW.rowid) OR EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = NEW.flow_id AND version = NEW.version) OR EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = NEW.flow_id AND checksum = NEW.checksum) OR EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = NEW.flow_id AND release = NEW.release) BEGIN SELECT RAISE(ABORT, 'flow_versions: this row is immutable'); END
--
CREATE TRIGGER version_steps_guard_insert BEFORE INSERT ON version_steps WHEN EXISTS (SELECT 1 FROM version_steps WHERE rowid = NEW.rowid) OR EXISTS (SELECT 1 FROM version_steps WHERE flow_id = NEW.flow_id AND version = NEW.version AND step_id = NEW.step_id) OR EXISTS (SELECT 1 FROM version_steps WHERE flow_id = NEW.flow_id AND version = NEW.version AND step_order = NEW.step_order) BEGIN SELECT RAISE(ABORT, 'version_steps: this row is immutable'); END
--
CREATE TRIGGER version_edges_guard_insert BEFORE INSERT ON version_edges WHEN EXISTS (SELECT 1 FROM version_edges WHERE rowid = NEW.rowid) OR EXISTS (SELECT 1 FROM version_edges WHERE flow_id = NEW.flow_id AND version = NEW.version AND parent_step_id = NEW.parent_step_id AND child_step_id = NEW.child_step_id) BEGIN SELECT RAISE(ABORT, 'version_edges: this row is immutable'); END
--
CREATE TRIGGER flow_step_attempts_guard_insert BEFORE INSERT ON flow_step_attempts WHEN EXISTS (SELECT 1 FROM flow_step_attempts WHERE rowid = NEW.rowid) OR EXISTS (SELECT 1 FROM flow_step_attempts WHERE flow_run_id = NEW.flow_run_id AND step_id = NEW.step_id AND attempt_no = NEW.attempt_no) BEGIN SELECT RAISE(ABORT, 'flow_step_attempts: this row is immutable'); END
--
CREATE TRIGGER version_steps_guard_released BEFORE INSERT ON version_steps WHEN EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = NEW.flow_id AND version = NEW.version AND release IS NOT NULL) BEGIN SELECT RAISE(ABORT, 'version_steps: this row is immutable'); END
--
CREATE TRIGGER version_edges_guard_released BEFORE INSERT ON version_edges WHEN EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = NEW.flow_id AND version = NEW.version AND release IS NOT NULL) BEGIN SELECT RAISE(ABORT, 'version_edges: this row is immutable'); END
--
CREATE INDEX ix_codev_notices_session_id ON codev_notices (session_id)
--
CREATE INDEX ix_codev_sessions_due ON codev_sessions (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_codev_sessions_claimed ON codev_sessions (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_codev_sessions_event ON codev_sessions (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_codev_notices_due ON codev_notices (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_codev_notices_claimed ON codev_notices (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_codev_notices_event ON codev_notices (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_flow_runs_tenant_id_status_id ON flow_runs (tenant_id, status, id)
--
CREATE UNIQUE INDEX ux_variables_space_id_name ON variables (tenant_id, space_id, name) WHERE space_id IS NOT NULL
--
CREATE UNIQUE INDEX ux_variables_tenant_id_name ON variables (tenant_id, name) WHERE space_id IS NULL
--
CREATE INDEX ix_recovery_codes_user_id ON recovery_codes (user_id)
--
CREATE INDEX ix_secret_reads_tenant_id_name ON secret_reads (tenant_id, name)
--
CREATE INDEX ix_passkeys_user_id ON passkeys (user_id)
--
CREATE INDEX ix_passkey_challenges_expires_at ON passkey_challenges (expires_at)
--
CREATE INDEX ix_user_sessions_provider_session ON user_sessions (provider_session)
--
CREATE INDEX ix_flow_runs_visitor ON flow_runs (tenant_id, visitor, created_at) WHERE visitor IS NOT NULL
--
CREATE UNIQUE INDEX ux_model_servers_space_id_name ON model_servers (tenant_id, space_id, name) WHERE space_id IS NOT NULL
--
CREATE UNIQUE INDEX ux_model_servers_tenant_id_name ON model_servers (tenant_id, name) WHERE space_id IS NULL
--
CREATE UNIQUE INDEX ix_directory_users_tenant_id_user_name_key ON directory_users (tenant_id, user_name_key)
--
CREATE INDEX ix_directory_users_tenant_id_external_id ON directory_users (tenant_id, external_id)
--
CREATE UNIQUE INDEX ix_directory_groups_tenant_id_name_key ON directory_groups (tenant_id, name_key)
--
CREATE INDEX ix_directory_group_members_user_id ON directory_group_members (user_id)
--
CREATE INDEX ix_directory_group_roles_space_id ON directory_group_roles (space_id)
--
CREATE UNIQUE INDEX ux_installation_keys_current ON installation_keys (purpose) WHERE state = 'current'
--
CREATE UNIQUE INDEX ux_installation_keys_prepared ON installation_keys (purpose) WHERE state = 'prepared'
--
CREATE INDEX ix_installation_keys_due ON installation_keys (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_installation_keys_claimed ON installation_keys (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_installation_keys_event ON installation_keys (event) WHERE event IS NOT NULL
--
CREATE TRIGGER codev_writes_before_key_insert BEFORE INSERT ON codev_writes WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."before" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'codev_writes: the key of this value is retired'); END
--
CREATE TRIGGER codev_writes_before_key_update BEFORE UPDATE OF "before" ON codev_writes WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."before" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'codev_writes: the key of this value is retired'); END
--
CREATE TRIGGER codev_writes_change_key_insert BEFORE INSERT ON codev_writes WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."change" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'codev_writes: the key of this value is retired'); END
--
CREATE TRIGGER codev_writes_change_key_update BEFORE UPDATE OF "change" ON codev_writes WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."change" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'codev_writes: the key of this value is retired'); END
--
CREATE TRIGGER webhook_deliveries_target_key_insert BEFORE INSERT ON webhook_deliveries WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."target" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'webhook_deliveries: the key of this value is retired'); END
--
CREATE TRIGGER webhook_deliveries_target_key_update BEFORE UPDATE OF "target" ON webhook_deliveries WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."target" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'webhook_deliveries: the key of this value is retired'); END
--
CREATE TRIGGER flow_step_calls_answer_key_insert BEFORE INSERT ON flow_step_calls WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."answer" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'flow_step_calls: the key of this value is retired'); END
--
CREATE TRIGGER flow_step_calls_answer_key_update BEFORE UPDATE OF "answer" ON flow_step_calls WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."answer" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'flow_step_calls: the key of this value is retired'); END
--
CREATE TRIGGER mcp_servers_sealed_key_insert BEFORE INSERT ON mcp_servers WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'mcp_servers: the key of this value is retired'); END
--
CREATE TRIGGER mcp_servers_sealed_key_update BEFORE UPDATE OF "sealed" ON mcp_servers WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'mcp_servers: the key of this value is retired'); END
--
CREATE TRIGGER model_servers_sealed_key_insert BEFORE INSERT ON model_servers WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'model_servers: the key of this value is retired'); END
--
CREATE TRIGGER model_servers_sealed_key_update BEFORE UPDATE OF "sealed" ON model_servers WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'model_servers: the key of this value is retired'); END
--
CREATE TRIGGER totp_authenticators_secret_key_insert BEFORE INSERT ON totp_authenticators WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."secret" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'totp_authenticators: the key of this value is retired'); END
--
CREATE TRIGGER totp_authenticators_secret_key_update BEFORE UPDATE OF "secret" ON totp_authenticators WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."secret" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'totp_authenticators: the key of this value is retired'); END
--
CREATE TRIGGER variables_token_key_insert BEFORE INSERT ON variables WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."token" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'variables: the key of this value is retired'); END
--
CREATE TRIGGER variables_token_key_update BEFORE UPDATE OF "token" ON variables WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."token" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'variables: the key of this value is retired'); END
--
CREATE INDEX ix_assistant_conversations_used_at ON assistant_conversations (used_at)
--
CREATE UNIQUE INDEX ux_data_keys_active ON data_keys (tenant_id) WHERE state = 'active'
--
CREATE TRIGGER data_keys_wrapped_key_insert BEFORE INSERT ON data_keys WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."wrapped" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'data_keys: the key of this value is retired'); END
--
CREATE TRIGGER data_keys_wrapped_key_update BEFORE UPDATE OF "wrapped" ON data_keys WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."wrapped" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'data_keys: the key of this value is retired'); END
--
CREATE INDEX ix_files_stored_bytes ON files (tenant_id, space_id, size_bytes)
--
CREATE INDEX ix_flow_runs_waiting ON flow_runs (flow_id) WHERE status = 'waiting'
--
CREATE INDEX ix_flow_step_results_due ON flow_step_results (due_at) WHERE status = 'waiting'
--
CREATE UNIQUE INDEX ix_flow_runs_parent ON flow_runs (parent_run_id, parent_step_id, parent_iteration) WHERE parent_run_id IS NOT NULL
--
CREATE INDEX ix_flow_runs_parent_open ON flow_runs (parent_run_id, parent_step_id, parent_iteration) WHERE parent_run_id IS NOT NULL AND status <> 'completed'
--
CREATE INDEX ix_approvals_tenant_id_status_id ON approvals (tenant_id, status, id)
--
CREATE TRIGGER approvals_content_key_insert BEFORE INSERT ON approvals WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'approvals: the key of this value is retired'); END
--
CREATE TRIGGER approvals_content_key_update BEFORE UPDATE OF "content" ON approvals WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'approvals: the key of this value is retired'); END
--
CREATE TRIGGER approval_decisions_response_key_insert BEFORE INSERT ON approval_decisions WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."response" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'approval_decisions: the key of this value is retired'); END
--
CREATE TRIGGER approval_decisions_response_key_update BEFORE UPDATE OF "response" ON approval_decisions WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."response" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'approval_decisions: the key of this value is retired'); END
--
CREATE INDEX ix_sent_events_space_id_name_correlation_id ON sent_events (space_id, name, correlation, id)
--
CREATE INDEX ix_sent_events_tenant_id_id ON sent_events (tenant_id, id)
--
CREATE INDEX ix_event_waits_space_id_name_correlation_status_created_at ON event_waits (space_id, name, correlation, status, created_at)
--
CREATE INDEX ix_event_waits_tenant_id_status ON event_waits (tenant_id, status)
--
CREATE TRIGGER sent_events_content_key_insert BEFORE INSERT ON sent_events WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'sent_events: the key of this value is retired'); END
--
CREATE TRIGGER sent_events_content_key_update BEFORE UPDATE OF "content" ON sent_events WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'sent_events: the key of this value is retired'); END
--
CREATE TRIGGER event_waits_content_key_insert BEFORE INSERT ON event_waits WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'event_waits: the key of this value is retired'); END
--
CREATE TRIGGER event_waits_content_key_update BEFORE UPDATE OF "content" ON event_waits WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'event_waits: the key of this value is retired'); END
--
CREATE INDEX ix_flow_runs_deadline ON flow_runs (deadline_at) WHERE deadline_at IS NOT NULL AND status IN ('queued', 'running', 'waiting')
--
CREATE INDEX ix_flow_runs_paused ON flow_runs (flow_id) WHERE status = 'paused'
--
CREATE TRIGGER flow_states_content_key_insert BEFORE INSERT ON flow_states WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'flow_states: the key of this value is retired'); END
--
CREATE TRIGGER flow_states_content_key_update BEFORE UPDATE OF "content" ON flow_states WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'flow_states: the key of this value is retired'); END
--
CREATE TRIGGER flow_state_values_content_key_insert BEFORE INSERT ON flow_state_values WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'flow_state_values: the key of this value is retired'); END
--
CREATE TRIGGER flow_state_values_content_key_update BEFORE UPDATE OF "content" ON flow_state_values WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'flow_state_values: the key of this value is retired'); END
--
CREATE INDEX ix_flow_runs_flow_id_session_id ON flow_runs (flow_id, session_id) WHERE session_id IS NOT NULL
--
CREATE INDEX ix_budget_accounts_flow_id ON budget_accounts (flow_id, changed_at)
--
CREATE INDEX ix_budget_accounts_flow_run_id ON budget_accounts (flow_run_id)
--
CREATE INDEX ix_run_slots_flow_run_id ON run_slots (flow_run_id)
--
CREATE INDEX ix_run_slots_queue ON run_slots (tenant_id, name) WHERE granted_at IS NULL
--
CREATE INDEX ix_flow_runs_error_flow ON flow_runs (finished_at) WHERE status = 'failed' AND error_flow IS NOT NULL
--
CREATE INDEX ix_failure_handlers_due ON failure_handlers (claimed_at) WHERE status = 'due'
--
CREATE UNIQUE INDEX ux_approvals_scope ON approvals (flow_run_id, step_id, scope)
--
CREATE INDEX ix_approval_notices_due ON approval_notices (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_approval_notices_claimed ON approval_notices (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_approval_notices_event ON approval_notices (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_approval_links_approval_id ON approval_links (approval_id)
--
CREATE TRIGGER approval_notices_target_key_insert BEFORE INSERT ON approval_notices WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."target" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'approval_notices: the key of this value is retired'); END
--
CREATE TRIGGER approval_notices_target_key_update BEFORE UPDATE OF "target" ON approval_notices WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."target" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'approval_notices: the key of this value is retired'); END
--
CREATE UNIQUE INDEX ux_connections_space_id_name ON connections (space_id, name) WHERE owner_id IS NULL
--
CREATE UNIQUE INDEX ux_connections_owner_id_name ON connections (space_id, owner_id, name) WHERE owner_id IS NOT NULL
--
CREATE TRIGGER connections_sealed_key_insert BEFORE INSERT ON connections WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'connections: the key of this value is retired'); END
--
CREATE TRIGGER connections_sealed_key_update BEFORE UPDATE OF "sealed" ON connections WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'connections: the key of this value is retired'); END
--
CREATE TRIGGER connection_tokens_sealed_key_insert BEFORE INSERT ON connection_tokens WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'connection_tokens: the key of this value is retired'); END
--
CREATE TRIGGER connection_tokens_sealed_key_update BEFORE UPDATE OF "sealed" ON connection_tokens WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'connection_tokens: the key of this value is retired'); END
--
CREATE TRIGGER connection_authorizations_sealed_key_insert BEFORE INSERT ON connection_authorizations WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'connection_authorizations: the key of this value is retired'); END
--
CREATE TRIGGER connection_authorizations_sealed_key_update BEFORE UPDATE OF "sealed" ON connection_authorizations WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."sealed" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'connection_authorizations: the key of this value is retired'); END
--
CREATE INDEX ix_triggers_tenant_id_id ON triggers (tenant_id, id)
--
CREATE INDEX ix_triggers_owner_user_id ON triggers (owner_user_id)
--
CREATE UNIQUE INDEX ix_triggers_address ON triggers (address) WHERE address IS NOT NULL
--
CREATE INDEX ix_triggers_due ON triggers (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_triggers_claimed ON triggers (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_triggers_event ON triggers (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_trigger_occurrences_trigger_id_id ON trigger_occurrences (trigger_id, id)
--
CREATE INDEX ix_trigger_occurrences_created_at ON trigger_occurrences (created_at)
--
CREATE INDEX ix_trigger_occurrences_flow_run_id ON trigger_occurrences (flow_run_id) WHERE flow_run_id IS NOT NULL
--
CREATE INDEX ix_trigger_occurrences_queued ON trigger_occurrences (trigger_id, id) WHERE status = 'queued'
--
CREATE TRIGGER triggers_secret_key_insert BEFORE INSERT ON triggers WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."secret" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'triggers: the key of this value is retired'); END
--
CREATE TRIGGER triggers_secret_key_update BEFORE UPDATE OF "secret" ON triggers WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."secret" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'triggers: the key of this value is retired'); END
--
CREATE TRIGGER triggers_caught_key_insert BEFORE INSERT ON triggers WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."caught" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'triggers: the key of this value is retired'); END
--
CREATE TRIGGER triggers_caught_key_update BEFORE UPDATE OF "caught" ON triggers WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."caught" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'triggers: the key of this value is retired'); END
--
CREATE TRIGGER trigger_occurrences_content_key_insert BEFORE INSERT ON trigger_occurrences WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'trigger_occurrences: the key of this value is retired'); END
--
CREATE TRIGGER trigger_occurrences_content_key_update BEFORE UPDATE OF "content" ON trigger_occurrences WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."content" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'trigger_occurrences: the key of this value is retired'); END
--
CREATE INDEX ix_knowledge_documents_due ON knowledge_documents (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_knowledge_documents_claimed ON knowledge_documents (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_knowledge_documents_event ON knowledge_documents (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_knowledge_versions_file_id ON knowledge_versions (file_id)
--
CREATE TRIGGER knowledge_passages_indexed AFTER INSERT ON knowledge_passages BEGIN
    INSERT INTO knowledge_index (rowid, terms, base_id) VALUES (new.id, new.terms, new.base_id); END
--
CREATE TRIGGER knowledge_passages_removed AFTER DELETE ON knowledge_passages BEGIN
    INSERT INTO knowledge_index (knowledge_index, rowid, terms, base_id)
    VALUES ('delete', old.id, old.terms, old.base_id); END
--
CREATE TRIGGER knowledge_passages_changed AFTER UPDATE OF terms, base_id ON knowledge_passages BEGIN
    INSERT INTO knowledge_index (knowledge_index, rowid, terms, base_id)
    VALUES ('delete', old.id, old.terms, old.base_id);
    INSERT INTO knowledge_index (rowid, terms, base_id) VALUES (new.id, new.terms, new.base_id); END
--
CREATE INDEX ix_flow_tags_tenant_id_tag ON flow_tags (tenant_id, tag)
--
CREATE INDEX ix_flow_favourites_user_id ON flow_favourites (user_id)
--
CREATE INDEX ix_flow_comments_flow_id_id ON flow_comments (flow_id, id)
--
CREATE INDEX ix_flow_comments_author_user_id ON flow_comments (author_user_id)
--
CREATE INDEX ix_flow_comment_mentions_user_id ON flow_comment_mentions (user_id)
--
CREATE INDEX ix_flow_runs_flow_id_status_finished_at ON flow_runs (flow_id, status, finished_at)
--
CREATE INDEX ix_trigger_occurrences_trigger_id_created_at ON trigger_occurrences (trigger_id, created_at)
--
CREATE INDEX ix_sent_events_space_id_followed_deliveries_keep_until ON sent_events (space_id, followed, deliveries, keep_until)
--
CREATE INDEX ix_knowledge_documents_base_id_id ON knowledge_documents (base_id, id)
--
CREATE INDEX ix_connection_operations_place ON connection_operations (connection_id, place)
--
CREATE INDEX ix_knowledge_vectors_passage_id ON knowledge_vectors (passage_id)
--
CREATE INDEX ix_knowledge_passages_base_id_digest ON knowledge_passages (base_id, digest)
--
CREATE UNIQUE INDEX ix_trigger_links_token_hash ON trigger_links (token_hash)
--
CREATE INDEX ix_trigger_links_trigger_id_id ON trigger_links (trigger_id, id)
--
CREATE INDEX ix_knowledge_questions_base_id_id ON knowledge_questions (base_id, id)
--
CREATE INDEX ix_flow_conversations_user_id_flow_id_position ON flow_conversations (user_id, flow_id, position)
--
CREATE INDEX ix_flow_conversations_flow_id_used_at ON flow_conversations (flow_id, used_at)
--
CREATE INDEX ix_files_expires_at ON files (expires_at) WHERE expires_at IS NOT NULL
--
CREATE INDEX ix_pack_items_pack ON pack_items (pack)
--
CREATE INDEX ix_alert_rules_tenant_id_id ON alert_rules (tenant_id, id)
--
CREATE UNIQUE INDEX ux_alerts_open ON alerts (rule_id, subject) WHERE state <> 'resolved'
--
CREATE INDEX ix_alerts_tenant_open ON alerts (tenant_id) WHERE state <> 'resolved'
--
CREATE INDEX ix_alerts_pending ON alerts (tenant_id) WHERE pending <> ''
--
CREATE INDEX ix_alerts_rule_id_id ON alerts (rule_id, id)
--
CREATE INDEX ix_alerts_resolved_at ON alerts (resolved_at)
--
CREATE INDEX ix_alert_notices_rule_id_id ON alert_notices (rule_id, id)
--
CREATE INDEX ix_alert_notices_due ON alert_notices (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_alert_notices_claimed ON alert_notices (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_alert_notices_event ON alert_notices (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_alert_evaluations_due ON alert_evaluations (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_alert_evaluations_claimed ON alert_evaluations (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_alert_evaluations_event ON alert_evaluations (event) WHERE event IS NOT NULL
--
CREATE TRIGGER alert_rules_webhook_key_insert BEFORE INSERT ON alert_rules WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."webhook" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'alert_rules: the key of this value is retired'); END
--
CREATE TRIGGER alert_rules_webhook_key_update BEFORE UPDATE OF "webhook" ON alert_rules WHEN EXISTS (SELECT 1 FROM installation_keys WHERE state = 'retired' AND id = substr(CAST(NEW."webhook" AS TEXT), 5, 16)) BEGIN SELECT RAISE(ABORT, 'alert_rules: the key of this value is retired'); END
--
CREATE INDEX ix_knowledge_sources_base_id_id ON knowledge_sources (base_id, id)
--
CREATE INDEX ix_knowledge_sources_due ON knowledge_sources (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_knowledge_sources_claimed ON knowledge_sources (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_knowledge_sources_event ON knowledge_sources (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_knowledge_source_items_document_id ON knowledge_source_items (document_id)
--
CREATE INDEX ix_knowledge_documents_parent_id ON knowledge_documents (parent_id)
--
CREATE INDEX ix_knowledge_evaluations_base_id_id ON knowledge_evaluations (base_id, id)
--
CREATE INDEX ix_attention_assignments_user_id ON attention_assignments (user_id)
--
CREATE INDEX ix_flow_runs_source ON flow_runs (source_run_id) WHERE source_run_id IS NOT NULL
--
CREATE INDEX ix_slos_tenant_id_id ON slos (tenant_id, id)
--
CREATE INDEX ix_slos_due ON slos (due_at) WHERE worker_id IS NULL AND due_at IS NOT NULL
--
CREATE INDEX ix_slos_claimed ON slos (worker_id) WHERE worker_id IS NOT NULL
--
CREATE INDEX ix_slos_event ON slos (event) WHERE event IS NOT NULL
--
CREATE INDEX ix_chat_feedback_base_id_run_id ON chat_feedback (base_id, run_id)
--
CREATE INDEX ix_knowledge_vectors_cluster ON knowledge_vectors (base_id, model, cluster)
--
CREATE INDEX ix_webhook_deliveries_failed ON webhook_deliveries (tenant_id, created_at) WHERE status = 'failed'
--
CREATE UNIQUE INDEX ix_users_service_name ON users (name, tenant_id) WHERE kind = 'service' AND deleted_at IS NULL