#pragma once

namespace ahpd::config {

namespace sqlite {
class database;
}

/// Brings a database to the newest schema, each step in a transaction of its own, and sets what one
/// connection must set (WAL, synchronous FULL, foreign keys). Throws store_error, with the file
/// left as it was, for one that a newer program or another one made.
void open_schema(sqlite::database& db);

} // namespace ahpd::config
