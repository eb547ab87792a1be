"""The history as SQL sees it: a digest of the rows of every table and of every view of `report`."""

TABLES = """select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1"""
VIEWS = """select relname from pg_class where relkind = 'v' and relnamespace = 'report'::regnamespace order by 1"""


def rows(connection, sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def history(connection, job=None):
    """{table or view: digest of its rows}; what a trial that runs or a living worker changes is left out."""
    found = {}
    for schema, names in (("public", rows(connection, TABLES)), ("report", rows(connection, VIEWS))):
        for (name,) in names:
            columns = {c for (c,) in rows(connection, "select attname::text from pg_attribute where attrelid = %s::regclass "
                                                      "and attnum > 0 and not attisdropped", f"{schema}.{name}")}
            skip = {"job": "id <> %(job)s", "jobs": "id <> %(job)s", "worker": "false", "event": "job_id is distinct from %(job)s",
                    "trial": "job_id <> %(job)s", "trials": "job_id <> %(job)s", "schema_migration": "version > 0"}
            where = skip.get(name) or ("trial_id not in (select id from trial where job_id = %(job)s)" if "trial_id" in columns
                                       else "true")
            table = f"{schema}.{name}"
            shown = {"schema_migration": "version, name, checksum", "blob": "id, project_id, sha256, size"}.get(name, "t")
            with connection.cursor() as cursor:
                cursor.execute(f"select count(*), md5(coalesce(string_agg(md5(({shown})::text), '' order by md5(({shown})::text)), ''))"
                               f" from {table} t where {where}", {"job": job or "00000000-0000-0000-0000-000000000000"})
                found[table] = cursor.fetchone()
    return found
