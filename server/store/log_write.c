/* SPDX-License-Identifier: MIT
 *
 * Log lines of a trial. A trial keeps the last LOG_BYTES of them: the end is what explains a crash.
 * Lines come from a child process: bytes that are not UTF-8 become question marks.
 */
#include <string.h>

#include "server/store/attempt_internal.h"

enum { LOG_BYTES = 262144, LINE_BYTES = 4096 };

/* Length of the valid UTF-8 sequence at text (n bytes left), 0 if there is none. */
static size_t sequence_length(const unsigned char *text, size_t n)
{
    static const unsigned char low[] = {0, 0, 0xc2, 0xe0, 0xf0};
    static const unsigned char high[] = {0, 0, 0xdf, 0xef, 0xf4};
    if (text[0] < 0x80) {
        return 1;
    }
    for (size_t length = 2; length <= 4; length++) {
        if (text[0] < low[length] || text[0] > high[length] || n < length) {
            continue;
        }
        for (size_t i = 1; i < length; i++) {
            if ((text[i] & 0xc0) != 0x80) {
                return 0;
            }
        }
        bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
        bool outside = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
        return overlong || outside ? 0 : length;
    }
    return 0;
}

static const char *clean_line(struct store_memory *memory, const char *text)
{
    size_t n = strnlen(text, LINE_BYTES);
    char *line = store_memory_copy(memory, text, n);
    for (size_t i = 0; line && i < n;) {
        size_t length = sequence_length((const unsigned char *)line + i, n - i);
        if (length == 0) {
            line[i] = '?';
            length = 1;
        }
        i += length;
    }
    return line;
}

static enum sv_status insert_lines(struct store_conn *conn, const struct store_claim *claim,
                                   const struct store_log_line *lines, size_t n,
                                   struct sv_error *err)
{
    struct sql_params params = {0};
    const char **levels = store_memory_array(&params.memory, n, sizeof *levels);
    const char **texts = store_memory_array(&params.memory, n, sizeof *texts);
    for (size_t i = 0; levels && texts && i < n; i++) {
        enum sv_log_level level;
        levels[i] = log_level_parse(lines[i].level, &level) ? lines[i].level : "info";
        texts[i] = clean_line(&params.memory, lines[i].text);
    }
    bool ready = !params.memory.failed;
    sql_text(&params, claim->trial_id);
    sql_int(&params, claim->fence);
    sql_text(&params, claim->project_id);
    sql_text_array(&params, levels, ready ? n : 0);
    sql_text_array(&params, texts, ready ? n : 0);
    return sql_run(
        conn,
        "with i as (insert into trial_log (trial_id, fence, project_id, n, level, line) select $1,"
        " $2, $3, x.n + (select coalesce(max(l.n), 0) from trial_log l where l.trial_id = $1),"
        " x.level, x.line from unnest($4::text[], $5::text[]) with ordinality as x (level, line, n)"
        " returning octet_length(line) as bytes) update trial set log_bytes = log_bytes +"
        " (select coalesce(sum(bytes), 0) from i) where id = $1",
        &params, NULL, err);
}

static enum sv_status drop_oldest(struct store_conn *conn, const struct store_claim *claim,
                                  struct sv_error *err)
{
    struct sql_params params = {0};
    sql_text(&params, claim->trial_id);
    sql_int(&params, LOG_BYTES);
    enum sv_status st = sql_run(
        conn,
        "delete from trial_log where trial_id = $1 and (select log_bytes > $2 from trial where"
        " id = $1) and n <= (select max(s.n) from (select n, sum(octet_length(line)) over (order"
        " by n desc) as tail from trial_log where trial_id = $1) s where s.tail > $2)",
        &params, NULL, err);
    if (st != SV_OK) {
        return st;
    }
    sql_text(&params, claim->trial_id);
    sql_int(&params, LOG_BYTES);
    return sql_run(conn,
                   "update trial set log_bytes = (select coalesce(sum(octet_length(line)), 0) from"
                   " trial_log where trial_id = $1) where id = $1 and log_bytes > $2",
                   &params, NULL, err);
}

enum sv_status store_log_write(struct store_conn *conn, const struct store_claim *claim,
                               const struct store_log_line *lines, size_t n, struct sv_error *err)
{
    enum sv_status st = insert_lines(conn, claim, lines, n, err);
    return st == SV_OK ? drop_oldest(conn, claim, err) : st;
}
