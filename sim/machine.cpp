#include "machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <variant>

namespace sim
{

double Machine::together(int ranks, size_t bytes) const
{
    double steps = ranks > 1 ? std::ceil(std::log2((double)ranks)) : 0;

    return steps * collective_latency +
           (ranks > 1 ? (double)bytes / collective_bandwidth : 0);
}

double Machine::each_to_each(int ranks, size_t bytes) const
{
    double steps = ranks > 1 ? std::ceil(std::log2((double)ranks)) : 0;
    double rate =
        (injection_bandwidth > 0 ? injection_bandwidth : link_bandwidth) /
        ranks_per_node;

    // Bruck's algorithm: half of all that a rank tells or hands on, each step.
    return steps *
           (collective_latency + (double)ranks / 2 * (double)bytes / rate);
}

int Machine::cores() const
{
    return std::max(cores_per_node / ranks_per_node, 1);
}

std::vector<unsigned long> torus_extents(int nodes, int axes)
{
    std::vector<unsigned long> e((size_t)axes, 1);
    unsigned long have = 1;

    // Double the shortest axis: all sizes of partitions are powers of two.
    while (have < (unsigned long)nodes) {
        size_t shortest = 0;

        for (size_t i = 1; i < e.size(); i++)
            if (e[i] < e[shortest])
                shortest = i;
        e[shortest] *= 2;
        have *= 2;
    }
    // SimGrid has no rings of one node.
    e.erase(std::remove(e.begin() + 1, e.end(), 1ul), e.end());
    return e;
}

unsigned gateways(int nodes)
{
    if (machine().gateway_nodes > 0)
        return (unsigned)machine().gateway_nodes;
    int each = machine().nodes_per_gateway;

    return (unsigned)((nodes + each - 1) / each);
}

namespace
{

using Place = std::variant<double *, int *, size_t *, std::string *>;

// "12.5GB/s", "3us", "16": false if there is anything else.
bool parse_quantity(const std::string &text, double &out)
{
    static const std::map<std::string, double> units = {{"", 1},
                                                        {"B", 1},
                                                        {"KiB", 1024.0},
                                                        {"MiB", 1048576.0},
                                                        {"GiB", 1073741824.0},
                                                        {"kB", 1e3},
                                                        {"MB", 1e6},
                                                        {"GB", 1e9},
                                                        {"B/s", 1},
                                                        {"kB/s", 1e3},
                                                        {"MB/s", 1e6},
                                                        {"GB/s", 1e9},
                                                        {"TB/s", 1e12},
                                                        {"s", 1},
                                                        {"ms", 1e-3},
                                                        {"us", 1e-6},
                                                        {"ns", 1e-9}};
    char *end = nullptr;

    out = std::strtod(text.c_str(), &end);
    auto unit = units.find(end);

    if (end == text.c_str() || unit == units.end() || !(out >= 0))
        return false;
    out *= unit->second;
    return true;
}

bool assign(const Place &place, const std::string &value)
{
    double number = 0;

    if (auto text = std::get_if<std::string *>(&place)) {
        **text = value;
        return true;
    }
    if (!parse_quantity(value, number))
        return false;
    if (auto p = std::get_if<double *>(&place))
        **p = number;
    else if (auto n = std::get_if<int *>(&place))
        **n = (int)number;
    else
        **std::get_if<size_t *>(&place) = (size_t)number;
    return true;
}

std::map<std::string, Place> places(Machine &m)
{
    return {{"name", &m.name},
            {"network", &m.network},
            {"axes", &m.axes},
            {"ranks_per_node", &m.ranks_per_node},
            {"link_bandwidth", &m.link_bandwidth},
            {"link_latency", &m.link_latency},
            {"node_bandwidth", &m.node_bandwidth},
            {"injection_bandwidth", &m.injection_bandwidth},
            {"message_overhead", &m.message_overhead},
            {"receive_seconds", &m.receive_seconds},
            {"header_bytes", &m.header_bytes},
            {"eager_bytes", &m.eager_bytes},
            {"collective_latency", &m.collective_latency},
            {"collective_bandwidth", &m.collective_bandwidth},
            {"nodes_per_gateway", &m.nodes_per_gateway},
            {"gateway_bandwidth", &m.gateway_bandwidth},
            {"gateway_nodes", &m.gateway_nodes},
            {"process_bandwidth", &m.process_bandwidth},
            {"shared_stripe_count", &m.shared_stripe_count},
            {"servers", &m.servers},
            {"server_bandwidth", &m.server_bandwidth},
            {"server_latency", &m.server_latency},
            {"request_bytes", &m.request_bytes},
            {"aggregator_bytes", &m.aggregator_bytes},
            {"stripe_count", &m.stripe_count},
            {"stripe_bytes", &m.stripe_bytes},
            {"lock_seconds", &m.lock_seconds},
            {"lock_bytes", &m.lock_bytes},
            {"metadata_seconds", &m.metadata_seconds},
            {"lookup_seconds", &m.lookup_seconds},
            {"sync_seconds", &m.sync_seconds},
            {"tier_path", &m.tier_path},
            {"nodes_per_tier", &m.nodes_per_tier},
            {"tier_write_bandwidth", &m.tier_write_bandwidth},
            {"tier_read_bandwidth", &m.tier_read_bandwidth},
            {"tier_latency", &m.tier_latency},
            {"tier_request_bytes", &m.tier_request_bytes},
            {"tier_capacity_bytes", &m.tier_capacity_bytes},
            {"nodes_per_aggregator", &m.nodes_per_aggregator},
            {"cores_per_node", &m.cores_per_node},
            {"processor_speed", &m.processor_speed}};
}

[[noreturn]] void give_up(const std::string &message)
{
    std::fprintf(stderr, "simulation: %s\n", message.c_str());
    std::exit(2);
}

Machine load()
{
    const char *path = std::getenv("BOUMA_SIM_MACHINE");
    std::ifstream file(path ? path : "");
    std::stringstream text;
    std::string message;
    Machine m;

    if (!path || !file)
        give_up("BOUMA_SIM_MACHINE does not name a file that can be read");
    text << file.rdbuf();
    if (!parse_machine(m, text.str(), message))
        give_up(std::string(path) + ", " + message);
    return m;
}

} // namespace

bool parse_machine(Machine &out, const std::string &text, std::string &message)
{
    auto known = places(out);
    std::istringstream lines(text);
    std::string line;

    for (int number = 1; std::getline(lines, line); number++) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string name, value, more;

        if (!(words >> name))
            continue;
        auto place = known.find(name);
        if (place == known.end() || !(words >> value) || (words >> more) ||
            !assign(place->second, value)) {
            message = "line " + std::to_string(number) + ": \"" + line +
                      "\" is not a name and a value";
            return false;
        }
    }
    if (out.servers < 1 || out.stripe_count < 1 || !out.stripe_bytes ||
        !out.request_bytes || !out.lock_bytes || !out.aggregator_bytes ||
        out.ranks_per_node < 1 || out.nodes_per_gateway < 1 ||
        !(out.gateway_bandwidth > 0) || !(out.nodes_per_aggregator > 0) ||
        !(out.processor_speed > 0)) {
        message = "a number is 0 that must not be";
        return false;
    }
    return true;
}

const Machine &machine()
{
    static const Machine m = load();
    return m;
}

} // namespace sim
