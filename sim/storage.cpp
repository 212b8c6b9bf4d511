// storage.cpp -- the file system of a simulated machine. It stands in for
// bouma_io_posix(), so programs need not know of it.
//
// A file is spread over servers in stripes. A write is a transfer over the
// network to the writer's gateway and, at the same time, over the storage network
// to each server, which serves one request after the other. What a file system
// does for shared files is a lock for each block: a writer that takes one from
// another pays for it. Names are made, changed and removed by one metadata
// server, one at a time.
//
// A tier is one server that some nodes have for themselves, without a gateway,
// stripes and locks: names and bytes take their turns there. Its paths begin with
// its number, so each has names of its own.
#define SIM_INSIDE
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <vector>

extern "C" {
#include "bouma_store.h"
}

#include "contents.hpp"
#include "courier.hpp"
#include "machine.hpp"
#include "rank.hpp"
#include "storage.hpp"
#include "work.h"

namespace sg = simgrid::s4u;

namespace sim
{
namespace
{

bool save_files(const std::string &directory);

enum class Kind { file, directory, link };

// What has gone to it and come from it.
struct Counts {
    uint64_t written = 0, read = 0, requests = 0, creates = 0, locks_moved = 0;
    double server_seconds = 0; // of all servers
    uint64_t tier_written = 0, tier_read = 0;
};

struct Tier;

// What a process has written or read of a file without a gap, on one server. File
// systems join such calls to requests.
struct Run {
    size_t server = SIZE_MAX;
    uint64_t end = 0, bytes = 0;
    bool writing = false;
};

struct Node {
    Kind kind = Kind::file;
    Contents data;    // of a file
    std::string text; // of a link
    unsigned first_server = 0;
    size_t stripe_count = 1; // servers that it is spread over
    std::unordered_map<uint64_t, const Rank *> owners; // of its blocks
    Tier *tier = nullptr; // that it is on; NULL: the file system
    std::unordered_map<const Rank *, Run> runs;
};
using NodePtr = std::shared_ptr<Node>;

struct Server {
    sg::Host *host;
    sg::MutexPtr turn = sg::Mutex::create();
};

struct Tier {
    Server server;
    double used = 0; // bytes
};

struct Storage {
    std::map<std::string, NodePtr> nodes; // by path
    std::map<int, Tier> tiers;            // by number
    std::vector<Server> servers;
    sg::MutexPtr metadata = sg::Mutex::create();
    unsigned files = 0;
    Counts counts;
};

Storage &storage();

// When the simulation ends, what the variables BOUMA_SIM_REPORT and
// BOUMA_SIM_SAVE ask for.
void report()
{
    const Counts &counts = storage().counts;
    const char *directory = std::getenv("BOUMA_SIM_SAVE");

    if (std::getenv("BOUMA_SIM_REPORT"))
        std::fprintf(
            stderr,
            "storage: %.1f MB written in %llu requests, %.1f MB read, "
            "%llu files made, %llu locks moved; servers busy %.3f s\n",
            (double)counts.written / 1e6, (unsigned long long)counts.requests,
            (double)counts.read / 1e6, (unsigned long long)counts.creates,
            (unsigned long long)counts.locks_moved, counts.server_seconds);
    if (std::getenv("BOUMA_SIM_REPORT") && !storage().tiers.empty())
        std::fprintf(stderr, "tiers: %.1f MB written, %.1f MB read on %zu\n",
                     (double)counts.tier_written / 1e6,
                     (double)counts.tier_read / 1e6, storage().tiers.size());
    if (directory && !save_files(directory))
        std::fprintf(stderr, "simulation: %s could not be written\n",
                     directory);
}

struct OpenFile {
    NodePtr node;
    bool append;
};

Storage &storage()
{
    static Storage s;

    if (s.servers.empty()) {
        sg::Engine::on_simulation_end_cb(report);
        for (int i = 0; i < machine().servers; i++)
            s.servers.push_back({sg::Host::by_name("s" + std::to_string(i))});
    }
    return s;
}

std::string path_of(void *root, const char *name)
{
    auto path = *static_cast<std::string *>(root);

    return *name ? path + "/" + name : path;
}

// ---- time -------------------------------------------------------------------

int node_number(const sg::Host *host)
{
    return std::atoi(host->get_cname() + 1);
}

// From a node to a server: the gateway, and the node that leads to it, which is
// the first of the group that shares it, or has nothing else to do.
int gateway_number(const sg::Host *host, size_t server)
{
    int own = machine().gateway_nodes;

    return own > 0 ? (int)(server % (size_t)own)
                   : node_number(host) / machine().nodes_per_gateway;
}

sg::Host *gateway_of(const sg::Host *host, size_t server)
{
    return sg::Host::by_name("g" +
                             std::to_string(gateway_number(host, server)));
}

sg::Host *bridge_of(const sg::Host *host, size_t server)
{
    int number = gateway_number(host, server);
    int each = machine().nodes_per_gateway;

    return sg::Host::by_name(machine().gateway_nodes > 0
                                 ? "b" + std::to_string(number)
                                 : "n" + std::to_string(number * each));
}

// ---- tiers ------------------------------------------------------------------

bool is_on_tier(const std::string &path)
{
    const std::string &top = machine().tier_path;

    return !top.empty() && !path.compare(0, top.size(), top) &&
           (path.size() == top.size() || path[top.size()] == '/');
}

// Of the calling actor's node; made with its directory when it is first used.
std::string tier_path(const std::string &path)
{
    int number = node_number(this_rank().host) / machine().nodes_per_tier;
    std::string prefix = "<" + std::to_string(number) + ">";
    int first = number * machine().nodes_per_tier;

    if (!storage().tiers.count(number)) {
        auto top = std::make_shared<Node>();

        top->kind = Kind::directory;
        storage().tiers[number].server.host =
            sg::Host::by_name("n" + std::to_string(first));
        storage().nodes[prefix + machine().tier_path] = top;
    }
    return prefix + path;
}

// The tier that a path is on, or NULL.
Tier *tier_of(const std::string &path)
{
    return path[0] == '<' ? &storage().tiers[std::atoi(path.c_str() + 1)]
                          : nullptr;
}

// A turn at the tier's server. The bytes come over the network at the same time,
// unless the server is on the node itself.
void visit_tier(Tier &tier, size_t bytes, bool writing)
{
    const Machine &m = machine();
    auto *client = this_rank().host, *host = tier.server.host;
    double requests =
        (double)((bytes + m.tier_request_bytes - 1) / m.tier_request_bytes);
    sg::CommPtr leg;

    sim_pay();
    if (client != host && bytes)
        leg = writing ? sg::Comm::sendto_async(client, host, bytes)
                      : sg::Comm::sendto_async(host, client, bytes);
    tier.server.turn->lock();
    sg::this_actor::sleep_for(std::max(requests, 1.0) * m.tier_latency +
                              (double)bytes / (writing
                                                   ? m.tier_write_bandwidth
                                                   : m.tier_read_bandwidth));
    tier.server.turn->unlock();
    if (leg)
        leg->wait();
    (writing ? storage().counts.tier_written : storage().counts.tier_read) +=
        bytes;
}

// ---- the file system ----------------------------------------------------------

// What is done with names, at the server that has them.
void ask_metadata(const std::string &path, double seconds)
{
    if (Tier *tier = tier_of(path)) {
        visit_tier(*tier, 0, true);
        return;
    }
    sim_pay();
    Storage &s = storage();
    auto *host = this_rank().host;

    sg::Comm::sendto(gateway_of(host, 0), s.servers[0].host, 512);
    s.metadata->lock();
    sg::this_actor::sleep_for(seconds);
    s.metadata->unlock();
}

uint64_t requests_of(uint64_t bytes)
{
    return (bytes + machine().request_bytes - 1) / machine().request_bytes;
}

// The requests that a call adds which goes to one server.
uint64_t join(Node &n, size_t server, uint64_t offset, size_t bytes,
              bool writing)
{
    Run &run = n.runs[&this_rank()];

    if (run.server != server || run.end != offset || run.writing != writing)
        run = {server, offset, 0, writing};
    uint64_t before = requests_of(run.bytes);

    run.end += bytes;
    run.bytes += bytes;
    return requests_of(run.bytes) - before;
}

// The part of a call that one server has.
void visit(sg::Host *client, size_t number, size_t bytes, uint64_t requests,
           bool writing)
{
    const Machine &m = machine();
    Server &server = storage().servers[number];
    auto *gateway = gateway_of(client, number);
    double seconds = (double)requests * m.server_latency +
                     (double)bytes / m.server_bandwidth;
    auto *bridge = bridge_of(client, number);
    std::vector<sg::CommPtr> legs;

    // The legs of the way are used at the same time: bytes flow through.
    legs.push_back(writing
                       ? sg::Comm::sendto_async(gateway, server.host, bytes)
                       : sg::Comm::sendto_async(server.host, gateway, bytes));
    if (bridge != client)
        legs.push_back(writing ? sg::Comm::sendto_async(client, bridge, bytes)
                               : sg::Comm::sendto_async(bridge, client, bytes));
    server.turn->lock();
    sg::this_actor::sleep_for(seconds);
    server.turn->unlock();
    for (auto &leg : legs)
        leg->wait();
    storage().counts.requests += requests;
    storage().counts.server_seconds += seconds;
}

// How many bytes of a range each server of a file has.
std::vector<size_t> divide(const Node &n, uint64_t offset, size_t bytes)
{
    const Machine &m = machine();
    std::vector<size_t> shares(storage().servers.size());
    size_t count = std::min(n.stripe_count, shares.size());

    while (bytes) {
        uint64_t stripe = offset / m.stripe_bytes;
        size_t in = m.stripe_bytes - (size_t)(offset % m.stripe_bytes);

        in = std::min(in, bytes);
        shares[(n.first_server + stripe % count) % shares.size()] += in;
        offset += in;
        bytes -= in;
    }
    return shares;
}

// All parts at once, no faster than a process can.
void move(Node &n, uint64_t offset, size_t bytes, bool writing)
{
    sim_pay();
    double least = machine().process_bandwidth > 0
                       ? (double)bytes / machine().process_bandwidth
                       : 0;
    double begun = sg::Engine::get_clock();
    struct Visits {
        size_t left = 0;
        sg::SemaphorePtr over = sg::Semaphore::create(0);
    };
    auto visits = std::make_shared<Visits>();
    auto shares = divide(n, offset, bytes);
    auto *client = this_rank().host;
    size_t own = shares.size();
    size_t parts = shares.size() -
                   (size_t)std::count(shares.begin(), shares.end(), (size_t)0);

    for (size_t i = 0; i < shares.size(); i++) {
        if (!shares[i])
            continue;
        if (own == shares.size()) {
            own = i;
            continue;
        }
        visits->left++;
        dispatch([visits, i, client, share = shares[i], writing] {
            visit(client, i, share, requests_of(share), writing);
            visits->over->release();
        });
    }
    if (own < shares.size())
        visit(client, own, shares[own],
              parts == 1 ? join(n, own, offset, bytes, writing)
                         : requests_of(shares[own]),
              writing);
    for (; visits->left; visits->left--)
        visits->over->acquire();
    double left = begun + least - sg::Engine::get_clock();
    if (left > 0)
        sg::this_actor::sleep_for(left);
}

// Locks of blocks that others had.
void take_locks(Node &n, uint64_t offset, size_t bytes)
{
    const Machine &m = machine();
    const Rank *self = &this_rank();
    size_t taken = 0;

    if (m.lock_seconds <= 0 || !bytes)
        return;
    for (uint64_t b = offset / m.lock_bytes;
         b <= (offset + bytes - 1) / m.lock_bytes; b++) {
        const Rank *&owner = n.owners[b];

        taken += owner && owner != self;
        owner = self;
    }
    storage().counts.locks_moved += taken;
    if (taken)
        sg::this_actor::sleep_for((double)taken * m.lock_seconds);
}

// ---- the table ----------------------------------------------------------------

NodePtr find(const std::string &path)
{
    auto n = storage().nodes.find(path);

    return n == storage().nodes.end() ? nullptr : n->second;
}

int add_directory(const std::string &path)
{
    ask_metadata(path, machine().metadata_seconds);
    if (find(path))
        return EEXIST;
    auto n = std::make_shared<Node>();

    n->kind = Kind::directory;
    storage().nodes[path] = n;
    return 0;
}

// A copy of all files, in a directory of the real machine.
bool save_files(const std::string &directory)
{
    std::error_code failed;

    for (auto &n : storage().nodes) {
        auto path = directory + "/" + n.first;

        if (n.second->kind == Kind::directory) {
            std::filesystem::create_directories(path, failed);
        } else if (n.second->kind == Kind::file) {
            std::ofstream out(path, std::ios::binary);

            n.second->data.save(out);
            if (!out)
                return false;
        }
        if (failed)
            return false;
    }
    return true;
}

int attach(void *, void **root, const char *name, int create)
{
    std::string path = is_on_tier(name) ? tier_path(name) : name;
    int code = create ? add_directory(path) : find(path) ? 0 : ENOENT;

    if (!code)
        *root = new std::string(path);
    return code;
}

void detach(void *, void *root)
{
    delete static_cast<std::string *>(root);
}

// Whether the directory is there that something is to be made in.
bool has_parent(const std::string &path)
{
    NodePtr parent = find(path.substr(0, path.rfind('/')));

    return parent && parent->kind == Kind::directory;
}

int make_dir(void *, void *root, const char *name)
{
    auto path = path_of(root, name);

    return !*name || has_parent(path) ? add_directory(path) : ENOENT;
}

// The names of what is directly in a directory.
std::vector<std::string> entries(const std::string &directory)
{
    std::string prefix = directory + "/";
    std::vector<std::string> names;

    for (auto n = storage().nodes.lower_bound(prefix);
         n != storage().nodes.end() &&
         !n->first.compare(0, prefix.size(), prefix);
         ++n)
        if (n->first.find('/', prefix.size()) == std::string::npos)
            names.push_back(n->first.substr(prefix.size()));
    return names;
}

int list(void *, void *root, const char *name,
         int (*each)(void *context, const char *entry), void *context)
{
    auto path = path_of(root, name);
    int code = 0;

    ask_metadata(path, machine().lookup_seconds);
    if (!find(path))
        return ENOENT;
    for (auto &entry : entries(path))
        if ((code = each(context, entry.c_str())))
            break;
    return code;
}

int sync_dir(void *, void *root, const char *name)
{
    auto path = path_of(root, name);

    ask_metadata(path, machine().sync_seconds);
    return find(path) ? 0 : ENOENT;
}

int publish(void *, void *root, const char *from, const char *to, int replace)
{
    auto &nodes = storage().nodes;
    std::string old_path = path_of(root, from), new_path = path_of(root, to);

    ask_metadata(old_path, machine().metadata_seconds);
    if (!find(old_path))
        return ENOENT;
    if (find(new_path) && !replace)
        return EEXIST;
    // With all that is below it.
    std::vector<std::pair<std::string, NodePtr>> moved;

    for (auto n = nodes.lower_bound(old_path); n != nodes.end();) {
        bool below = !n->first.compare(0, old_path.size() + 1, old_path + "/");

        if (n->first != old_path && !below) {
            if (n->first.compare(0, old_path.size(), old_path))
                break;
            ++n;
            continue;
        }
        moved.emplace_back(new_path + n->first.substr(old_path.size()),
                           n->second);
        n = nodes.erase(n);
    }
    for (auto &m : moved)
        nodes[m.first] = m.second;
    return 0;
}

int remove_file(void *, void *root, const char *name)
{
    auto path = path_of(root, name);
    NodePtr n;

    ask_metadata(path, machine().metadata_seconds);
    n = find(path); // others may have come first
    if (!n || n->kind == Kind::directory)
        return n ? EISDIR : ENOENT;
    if (n->tier)
        n->tier->used -= (double)n->data.size();
    storage().nodes.erase(path);
    return 0;
}

int remove_dir(void *, void *root, const char *name)
{
    auto path = path_of(root, name);

    ask_metadata(path, machine().metadata_seconds);
    if (!find(path))
        return ENOENT;
    if (!entries(path).empty())
        return ENOTEMPTY;
    storage().nodes.erase(path);
    return 0;
}

int open_file(void *, void *root, void **file, const char *name,
              bouma_open_mode mode)
{
    auto path = path_of(root, name);
    NodePtr n = find(path);
    bool reading = mode == BOUMA_OPEN_MODE_READ || mode == BOUMA_OPEN_MODE_VIEW;

    ask_metadata(path, n || reading ? machine().lookup_seconds
                                    : machine().metadata_seconds);
    n = find(path); // others may have come first
    if (n && n->kind == Kind::directory)
        return EISDIR;
    if (n && mode == BOUMA_OPEN_MODE_CREATE)
        return EEXIST;
    if (!n && (reading || !has_parent(path)))
        return ENOENT;
    if (!n) {
        n = std::make_shared<Node>();
        n->tier = tier_of(path);
        if (!n->tier)
            n->first_server = storage().files++;
        n->stripe_count = (size_t)machine().stripe_count;
        storage().nodes[path] = n;
        storage().counts.creates++;
    }
    if (mode == BOUMA_OPEN_MODE_EMPTY) {
        if (n->tier)
            n->tier->used -= (double)n->data.size();
        n->data.clear();
    }
    *file = new OpenFile{n, mode == BOUMA_OPEN_MODE_APPEND};
    return 0;
}

Node &node_of(void *file)
{
    return *static_cast<OpenFile *>(file)->node;
}

int file_size(void *, void *file, uint64_t *bytes)
{
    *bytes = node_of(file).data.size();
    return 0;
}

int read_file(void *, void *file, void *data, size_t bytes, uint64_t offset,
              size_t *done)
{
    Node &n = node_of(file);

    *done = offset < n.data.size()
                ? (size_t)std::min<uint64_t>(bytes, n.data.size() - offset)
                : 0;
    if (!*done)
        return 0;
    if (n.tier)
        visit_tier(*n.tier, *done, false);
    else
        move(n, offset, *done, false);
    n.data.read(offset, data, *done);
    storage().counts.read += n.tier ? 0 : *done;
    return 0;
}

int write_to_tier(Node &n, const void *data, size_t bytes, uint64_t offset)
{
    uint64_t before = n.data.size();
    double more =
        offset + bytes > before ? (double)(offset + bytes - before) : 0;

    if (n.tier->used + more > machine().tier_capacity_bytes)
        return ENOSPC;
    n.tier->used += more;
    n.data.write(offset, data, bytes);
    visit_tier(*n.tier, bytes, true);
    return 0;
}

int write_file(void *, void *file, const void *data, size_t bytes,
               uint64_t offset, size_t *done)
{
    auto *f = static_cast<OpenFile *>(file);
    Node &n = *f->node;

    *done = bytes;
    if (!bytes)
        return 0;
    sim_pay();
    if (f->append)
        offset = n.data.size();
    if (n.tier)
        return write_to_tier(n, data, bytes, offset);
    n.data.write(offset, data, bytes);
    storage().counts.written += bytes;
    take_locks(n, offset, bytes);
    move(n, offset, bytes, true);
    return 0;
}

int sync_file(void *, void *file)
{
    if (Tier *tier = node_of(file).tier) {
        visit_tier(*tier, 0, true);
        return 0;
    }
    sim_pay();
    sg::this_actor::sleep_for(machine().sync_seconds);
    return 0;
}

int close_file(void *, void *file)
{
    delete static_cast<OpenFile *>(file);
    return 0;
}

int identity(void *, char *text, size_t bytes)
{
    std::snprintf(text, bytes, "simulation");
    return 0;
}

int alive(void *, const char *)
{
    return 0; // simulated runs end before others begin
}

int block_bytes(void *, void *, uint64_t *bytes)
{
    *bytes = machine().stripe_bytes;
    return 0;
}

int same(void *, void *root, void *other)
{
    return *static_cast<std::string *>(root) ==
           *static_cast<std::string *>(other);
}

int make_link(void *, void *root, const char *name, const char *text)
{
    auto path = path_of(root, name);

    ask_metadata(path, machine().metadata_seconds);
    if (find(path))
        return EEXIST;
    auto n = std::make_shared<Node>();

    n->kind = Kind::link;
    n->text = text;
    storage().nodes[path] = n;
    return 0;
}

int read_link(void *, void *root, const char *name, char *text, size_t bytes)
{
    auto path = path_of(root, name);
    auto n = find(path);

    ask_metadata(path, machine().lookup_seconds);
    if (!n || n->kind != Kind::link)
        return n ? EINVAL : ENOENT;
    if (n->text.size() >= bytes)
        return ENAMETOOLONG;
    std::memcpy(text, n->text.c_str(), n->text.size() + 1);
    return 0;
}

} // namespace

void share_file(const std::string &path)
{
    auto n = find(path);

    if (n && machine().shared_stripe_count > 0)
        n->stripe_count = (size_t)machine().shared_stripe_count;
}

} // namespace sim

extern "C" const bouma_io *bouma_io_posix(void)
{
    static const bouma_io io = [] {
        bouma_io t = {};

        t.size = sizeof(t);
        t.attach = sim::attach;
        t.detach = sim::detach;
        t.make_dir = sim::make_dir;
        t.list = sim::list;
        t.sync_dir = sim::sync_dir;
        t.publish = sim::publish;
        t.remove = sim::remove_file;
        t.open = sim::open_file;
        t.file_size = sim::file_size;
        t.read = sim::read_file;
        t.write = sim::write_file;
        t.sync = sim::sync_file;
        t.close = sim::close_file;
        t.identity = sim::identity;
        t.alive = sim::alive;
        t.remove_dir = sim::remove_dir;
        t.block_bytes = sim::block_bytes;
        t.concurrent = 1;
        t.same = sim::same;
        t.link = sim::make_link;
        t.read_link = sim::read_link;
        return t;
    }();

    return &io;
}
