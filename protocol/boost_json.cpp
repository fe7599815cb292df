// The one place where Boost.JSON and Boost.URL are compiled.
#include <boost/json/src.hpp>
#include <boost/url/src.hpp>
