-- One row of each table as revision 0001 has them; later steps must keep them.
INSERT INTO delivery (id, guid, event, action, installation_id, repository_id, subject, received_at, state, attempts)
VALUES (1, 'guid-1', 'issue_comment', 'created', 5, 2, 'thread:2:7', 1000.5, 'waiting', 0);
INSERT INTO delivery_body (delivery_id, received_at, body) VALUES (1, 1000.5, '{}');
INSERT INTO subject (key, installation_id, waiting_since, due_at, attempts, deaths) VALUES ('thread:2:7', 5, 1000.5, 1003.5, 0, 0);
INSERT INTO repository (id, installation_id, full_name, private, archived, suspended, policy_text)
VALUES (2, 5, 'acme/widgets', false, false, false, 'version: 1');
INSERT INTO person (id, login, type) VALUES (9, 'someone', 'User');
INSERT INTO thread (repository_id, number, installation_id, kind, open, locked, labels, labelled, kept_off, reopened, flips, quick_win)
VALUES (2, 7, 5, 'pull', true, false, '["bug"]', '{"burst": "on hold"}', '[]', false, 0, false);
INSERT INTO act (key, installation_id, repository_id, number, kind, at, actor_id, actor, body)
VALUES ('comment:1', 5, 2, 7, 'comment', 1000.5, 9, 'someone', 'text');
INSERT INTO verdict (repository_id, number, at, lane, verdict, readings, model, policy)
VALUES (2, 7, 1004.0, 'unsure', '{"p_agent": 0.41}', '{"bullet_share": null}', 'seed-1', 'sha256:0');
INSERT INTO change (repository_id, number, kind, target, detail, state, wanted_at)
VALUES (2, 7, 'add_label', 'burst', 'on hold', 'wanted', 1004.0);
INSERT INTO correction (key, repository_id, number, kind, label, by, at)
VALUES ('unlabeled:1', 2, 7, 'label_removed', 'burst', 'maintainer', 1005.0);
