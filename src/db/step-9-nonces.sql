CREATE INDEX identity_nonces_by_age ON identity_nonces (created_at) WHERE burned_at IS NULL;
