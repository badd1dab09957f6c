DROP INDEX revisions_by_picture;
CREATE INDEX revisions_by_picture ON revisions (picture, definition_id) WHERE picture IS NOT NULL;
