CREATE INDEX transfer_intents_by_service ON transfer_intents (service, next_at);
