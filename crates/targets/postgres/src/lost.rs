//! What a table has besides columns and rows, which goes when it is dropped.

use crate::ddl::{literal, quote};
use crate::session::{Failure, Session, first};

/// What becomes of a table, and of what belongs to it, when another one takes its place.
pub(super) struct Losing {
    /// Whether the user may drop it.
    pub(super) is_droppable: bool,
    /// What the table is part of, which a new one of its name would not be: `is a partition of p`; `None` where it stands alone.
    pub(super) belongs: Option<String>,
    /// What the server won't drop it without.
    pub(super) held_by: Vec<String>,
    /// What goes with it, in the words of SQL, one each.
    pub(super) lost_with: Vec<String>,
}

/// Asks for all of it at once.
pub(super) fn read(
    session: &mut Session<'_>,
    schema: &str,
    table: &str,
) -> Result<Losing, Failure> {
    let name = literal(&format!("{}.{}", quote(schema), quote(table)));
    let asked = [is_droppable(&name), belonging(&name), holders(&name), parts(&name)];
    let [droppable, belongs, held, lost] = session.tables(asked.each_ref().map(String::as_str))?;
    Ok(Losing {
        is_droppable: first(droppable).as_deref() == Some("t"),
        belongs: first(belongs),
        held_by: held.into_iter().flatten().flatten().collect(),
        lost_with: lost.into_iter().flatten().flatten().map(|what| shown(&what)).collect(),
    })
}

fn belonging(name: &str) -> String {
    format!(
        "SELECT CASE WHEN c.relispartition THEN 'is a partition of ' ELSE 'inherits from ' END \
             || pg_catalog.string_agg(i.inhparent::pg_catalog.regclass::text, ', ' ORDER BY i.inhseqno) \
         FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid \
         WHERE c.oid = {name}::pg_catalog.regclass GROUP BY c.relispartition"
    )
}

fn is_droppable(name: &str) -> String {
    format!(
        "SELECT pg_catalog.pg_has_role(c.relowner, 'USAGE') OR pg_catalog.pg_has_role(n.nspowner, 'USAGE') \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = {name}::pg_catalog.regclass"
    )
}

/// What depends on the table, on its partitions or on their types, and is no part of them.
fn holders(name: &str) -> String {
    let catalogue = |name: &str| format!("'pg_catalog.{name}'::pg_catalog.regclass");
    let (class, ty) = (catalogue("pg_class"), catalogue("pg_type"));
    let (constraint, rule) = (catalogue("pg_constraint"), catalogue("pg_rewrite"));
    format!(
        "WITH dropped AS (SELECT {name}::pg_catalog.regclass::pg_catalog.oid AS oid \
           UNION SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree({name}::pg_catalog.regclass)), \
         types AS (SELECT t.oid, t.typarray FROM pg_catalog.pg_type t JOIN dropped ON t.typrelid = dropped.oid), \
         held AS (SELECT {class} AS classid, oid FROM dropped UNION ALL SELECT {ty}, oid FROM types UNION ALL SELECT {ty}, typarray FROM types \
           UNION ALL SELECT {class}, q.oid FROM pg_catalog.pg_depend s JOIN dropped ON s.refobjid = dropped.oid \
             JOIN pg_catalog.pg_class q ON q.oid = s.objid AND q.relkind = 'S' \
             WHERE s.classid = {class} AND s.refclassid = {class} AND s.deptype IN ('a', 'i')) \
         SELECT DISTINCT CASE \
             WHEN d.classid = {class} AND d.objsubid = 0 THEN 'table ' || d.objid::pg_catalog.regclass::text \
             WHEN d.classid = {constraint} THEN (SELECT 'constraint ' || pg_catalog.quote_ident(c.conname) || ' on table ' \
               || c.conrelid::pg_catalog.regclass::text FROM pg_catalog.pg_constraint c WHERE c.oid = d.objid) \
             WHEN d.classid = {rule} THEN (SELECT CASE v.relkind WHEN 'm' THEN 'materialized view ' WHEN 'v' THEN 'view ' \
               ELSE 'rule ' || pg_catalog.quote_ident(r.rulename) || ' of table ' END || v.oid::pg_catalog.regclass::text \
               FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class v ON v.oid = r.ev_class WHERE r.oid = d.objid) \
             ELSE pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) END \
         FROM pg_catalog.pg_depend d JOIN held ON held.classid = d.refclassid AND held.oid = d.refobjid \
         WHERE d.deptype = 'n' \
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend own JOIN dropped ON own.refobjid = dropped.oid \
             WHERE own.classid = d.classid AND own.objid = d.objid AND own.refclassid = {class} AND own.deptype <> 'n') \
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE d.classid = {constraint} AND c.oid = d.objid AND c.conparentid <> 0) \
         ORDER BY 1"
    )
}

/// A condition: whether the user may give a new table in the place of the table `c` to the owner of that.
pub(super) const KEEPS_OWNER: &str = "(pg_catalog.pg_get_userbyid(c.relowner) = current_user \
     OR EXISTS (SELECT FROM pg_catalog.pg_roles u WHERE u.rolname = current_user AND u.rolsuper) \
     OR (pg_catalog.pg_has_role(c.relowner, 'USAGE') AND pg_catalog.has_schema_privilege(c.relowner, c.relnamespace, 'CREATE') \
         AND pg_catalog.pg_has_role(c.relowner, \
             CASE WHEN pg_catalog.current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)))";

fn parts(name: &str) -> String {
    format!(
        "WITH t AS (SELECT {name}::pg_catalog.regclass::pg_catalog.oid AS oid), \
         a AS (SELECT a.* FROM pg_catalog.pg_attribute a, t WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped), \
         lost(place, nth, what) AS ( \
           SELECT 0, 0::int8, 'PARTITION BY ' || pg_catalog.pg_get_partkeydef(t.oid) FROM t JOIN pg_catalog.pg_class c ON c.oid = t.oid \
             WHERE c.relkind = 'p' \
           UNION ALL SELECT 0, p.nth, 'PARTITION ' || p.relid::pg_catalog.text FROM t \
             CROSS JOIN LATERAL pg_catalog.pg_partition_tree(t.oid) WITH ORDINALITY AS p(relid, parent, is_leaf, level, nth) WHERE p.level > 0 \
           UNION ALL SELECT CASE c.contype WHEN 'p' THEN 1 WHEN 'c' THEN 4 WHEN 'u' THEN 5 WHEN 'f' THEN 6 ELSE 7 END, c.oid::int8, \
                  pg_catalog.pg_get_constraintdef(c.oid) \
             FROM pg_catalog.pg_constraint c, t WHERE c.conrelid = t.oid AND c.contype IN ('p', 'u', 'c', 'f', 'x') \
           UNION ALL SELECT 2, a.attnum::int8, 'NOT NULL on ' || a.attname::text FROM a, t WHERE a.attnotnull AND a.attidentity = '' \
              AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = t.oid AND i.indisprimary AND a.attnum = ANY (i.indkey::int2[])) \
           UNION ALL SELECT 3, a.attnum::int8, CASE WHEN a.attgenerated <> '' THEN 'the generated column ' || a.attname::text \
              ELSE 'DEFAULT ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid) || ' of ' || a.attname::text END \
             FROM a JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
           UNION ALL SELECT 3, a.attnum::int8, 'IDENTITY of ' || a.attname::text FROM a WHERE a.attidentity <> '' \
           UNION ALL SELECT 8, i.indexrelid::int8, pg_catalog.substr(pg_catalog.pg_get_indexdef(i.indexrelid), 8) \
             FROM pg_catalog.pg_index i, t WHERE i.indrelid = t.oid \
              AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x')) \
           UNION ALL SELECT 9, g.oid::int8, 'TRIGGER ' || g.tgname::text FROM pg_catalog.pg_trigger g, t WHERE g.tgrelid = t.oid AND NOT g.tgisinternal \
           UNION ALL SELECT 10, r.oid::int8, 'RULE ' || r.rulename::text FROM pg_catalog.pg_rewrite r, t WHERE r.ev_class = t.oid \
           UNION ALL SELECT 11, p.oid::int8, 'POLICY ' || p.polname::text FROM pg_catalog.pg_policy p, t WHERE p.polrelid = t.oid \
           UNION ALL SELECT 12, 0, 'privileges granted on it' FROM pg_catalog.pg_class c, t WHERE c.oid = t.oid AND c.relacl IS NOT NULL \
           UNION ALL SELECT 13, a.attnum::int8, 'privileges granted on ' || a.attname::text FROM a WHERE a.attacl IS NOT NULL \
           UNION ALL SELECT 14, 0, 'its owner ' || pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(c.relowner)) FROM pg_catalog.pg_class c, t \
              WHERE c.oid = t.oid AND NOT {KEEPS_OWNER} \
           UNION ALL SELECT 15, p.oid::int8, 'its place in PUBLICATION ' || pg_catalog.quote_ident(p.pubname) \
             FROM pg_catalog.pg_publication p JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid JOIN t ON r.prrelid = t.oid \
           UNION ALL SELECT 16, 0, 'REPLICA IDENTITY' FROM pg_catalog.pg_class c, t WHERE c.oid = t.oid AND c.relreplident <> 'd' \
           UNION ALL SELECT 17, s.oid::int8, 'STATISTICS ' || pg_catalog.quote_ident(s.stxname) FROM pg_catalog.pg_statistic_ext s, t \
              WHERE s.stxrelid = t.oid \
           UNION ALL SELECT 18, a.attnum::int8, 'SET STATISTICS of ' || a.attname::text FROM a WHERE a.attstattarget >= 0 \
           UNION ALL SELECT 19, 0, 'UNLOGGED' FROM pg_catalog.pg_class c, t WHERE c.oid = t.oid AND c.relpersistence = 'u' \
           UNION ALL SELECT 20, 0, 'WITH (' || pg_catalog.array_to_string(c.reloptions, ', ') || ')' FROM pg_catalog.pg_class c, t \
              WHERE c.oid = t.oid AND c.reloptions IS NOT NULL \
           UNION ALL SELECT 21, 0, 'TABLESPACE ' || pg_catalog.quote_ident(s.spcname) FROM pg_catalog.pg_class c, t, pg_catalog.pg_tablespace s \
              WHERE c.oid = t.oid AND s.oid = c.reltablespace \
           UNION ALL SELECT 22, 0, 'ROW LEVEL SECURITY' FROM pg_catalog.pg_class c, t WHERE c.oid = t.oid AND c.relrowsecurity \
           UNION ALL SELECT 23, 0, 'comments' FROM t WHERE EXISTS (SELECT FROM pg_catalog.pg_description d \
              WHERE d.objoid = t.oid AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass) \
         ) SELECT what FROM lost ORDER BY place, nth"
    )
}

/// An index as users name it: `INDEX t_a ON public.t USING btree (a)` is the one on (a).
fn shown(what: &str) -> String {
    match what.split_once(" ON ") {
        Some((head, tail)) if head.starts_with("INDEX ") || head.starts_with("UNIQUE INDEX ") => {
            let tail = tail.split_once(" USING btree ").map_or(tail, |(_, columns)| columns);
            format!("{head} {tail}")
        }
        _ => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn indexes_are_named_in_few_words() {
        for (what, wanted) in [
            ("INDEX t_a ON public.t USING btree (a, b DESC)", "INDEX t_a (a, b DESC)"),
            (
                "UNIQUE INDEX t_a ON public.t USING btree (lower(a)) WHERE (b > 0)",
                "UNIQUE INDEX t_a (lower(a)) WHERE (b > 0)",
            ),
            ("INDEX t_g ON public.t USING gin (a)", "INDEX t_g public.t USING gin (a)"),
            ("NOT NULL on a ON b", "NOT NULL on a ON b"),
        ] {
            assert_eq!(shown(what), wanted);
        }
    }
}
