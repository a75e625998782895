// The table that `ncu --csv --page raw` prints.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tessera::bench {

/// One map a launch, from metric to value in base units (bytes, nanoseconds). Lines that are not
/// the table's, ncu's messages and what the program itself prints, are passed over; so are values
/// that are no numbers ("n/a": the device does not count that). Empty where there is no table.
std::vector<std::map<std::string, double>> parse_ncu_csv(const std::string& text);

/// The fields of one line of CSV: quoted where they hold commas, a quote in them doubled.
std::vector<std::string> csv_fields(const std::string& line);

}  // namespace tessera::bench
