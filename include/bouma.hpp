/* bouma.hpp -- bouma for C++17: the C API with handles that free themselves,
 * typed arrays, and exceptions or statuses, whichever a program prefers. All of
 * it is in this header; link libbouma, as a program in C does. Programs with
 * MPI include bouma_mpi.h first, and link libbouma_mpi.
 *
 *     std::vector<double> field(64 * 64);
 *     bouma::dataset run = bouma::dataset::create("plate.bouma");
 *     bouma::grid plate = run.define_grid("plate", bouma::grid_spec({64, 64}));
 *     bouma::variable heat = plate.define_variable<double>("heat");
 *     run.begin(0, 0.0);
 *     heat.put_borrow(bouma::view<double, 2>(field.data(), {64, 64}));
 *     run.end();
 *     run.close();
 *
 * What each call does is in the headers of C: run.begin() is
 * bouma_step_begin(), and plate.info() is bouma_grid_info_get(). Structs of C
 * are used as they are; those that a program fills have a class of the same
 * name without "bouma_" that sets 'size'.
 *
 * Failures. A call that fails throws bouma::error, with the status and the
 * message. If its last argument is a pointer to a bouma::status, it fills that
 * instead, and throws nothing:
 *
 *     bouma::status status;
 *     bouma::dataset run = bouma::dataset::open("plate.bouma", {}, &status);
 *     if (!status)
 *         std::puts(status.message.c_str());
 *
 * Compiled without exceptions, a call that fails without a status prints the
 * message and aborts.
 *
 * Handles. A dataset, a step, particle_data, a file, a plan and a refinement are
 * moved, not copied, and free what they have. The others (grid, variable,
 * particles, attributes) are copied like pointers: they belong to their step
 * or, while they are written, to their dataset.
 *
 * Arrays. A bouma::view is a pointer with extents and strides, like
 * std::mdspan, from which it can be made. Axes are in C order, the slowest
 * first; the components of a variable are the last axis of its arrays. Strides
 * are in bytes. */
#ifndef BOUMA_HPP
#define BOUMA_HPP

#include "bouma.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions) && !defined(BOUMA_NO_EXCEPTIONS)
#define BOUMA_HPP_THROWS 1
#else
#define BOUMA_HPP_THROWS 0
#endif

namespace bouma
{

/* ---- failures ----------------------------------------------------------- */

/* What became of a call: BOUMA_OK, or a negative status and a message. */
struct status {
    int code = BOUMA_OK;
    std::string message;

    explicit operator bool() const
    {
        return code == BOUMA_OK;
    }
};

#if BOUMA_HPP_THROWS
class error : public std::runtime_error
{
  public:
    error(int status_code, const std::string &message)
        : std::runtime_error(message), code_(status_code)
    {
    }
    int code() const
    {
        return code_;
    } /* BOUMA_EINVAL, ... */

  private:
    int code_;
};
#endif

namespace detail
{

inline void fail(int code, const std::string &message, status *st)
{
    if (st) {
        st->code = code;
        st->message = message;
        return;
    }
#if BOUMA_HPP_THROWS
    throw error(code, message);
#else
    std::fprintf(stderr, "bouma: %s\n", message.c_str());
    std::abort();
#endif
}

/* The end of a call. 'message' is called only if it has failed. */
template <class Message> bool finish(int code, status *st, Message message)
{
    if (code == BOUMA_OK) {
        if (st)
            *st = status();
        return true;
    }
    const char *text = message();
    fail(code, text && *text ? text : bouma_status_text(code), st);
    return false;
}

inline const char *message_of(const bouma_dataset *h)
{
    return h ? bouma_error_message(h) : "this dataset is not open";
}
inline const char *message_of(const bouma_step *h)
{
    return h ? bouma_step_message(h) : "this step is not open";
}
inline const char *message_of(const bouma_grid *h)
{
    return h ? bouma_grid_message(h) : "there is no such grid";
}
inline const char *message_of(const bouma_particles *h)
{
    return h ? bouma_particles_message(h) : "there are no such particles";
}
inline const char *message_of(const bouma_variable *h)
{
    return h ? bouma_variable_message(h) : "there is no such variable";
}
inline const char *message_of(const bouma_attributes *h)
{
    return h ? bouma_attributes_message(h) : "there are no such attributes";
}
inline const char *message_of(const bouma_refinement *h)
{
    return h ? bouma_refinement_message(h) : "this refinement is not open";
}
inline const char *message_of(const bouma_particles_refinement *h)
{
    return h ? bouma_particles_refinement_message(h)
             : "this refinement is not open";
}
inline const char *message_of(const bouma_file *h)
{
    return h ? bouma_file_message(h) : "this file is not open";
}

template <class Handle> bool finish_by(int code, status *st, const Handle *h)
{
    return finish(code, st, [h] { return message_of(h); });
}

/* A path for C, which would cut it at a zero byte: then it is none, and refused
 * on all ranks. */
inline const char *path_of(const std::string &path)
{
    return path.find('\0') == std::string::npos ? path.c_str() : "";
}

/* Structs of C that say how large they are. */
template <class Struct> Struct sized()
{
    Struct s{};
    s.size = sizeof(s);
    return s;
}

struct free_dataset {
    void operator()(bouma_dataset *h) const
    {
        bouma_dataset_free(h);
    }
};
struct free_step {
    void operator()(bouma_step *h) const
    {
        bouma_step_free(h);
    }
};
struct free_particle_data {
    void operator()(bouma_particle_data *h) const
    {
        bouma_particle_data_free(h);
    }
};
struct free_refinement {
    void operator()(bouma_refinement *h) const
    {
        bouma_refinement_free(h);
    }
    void operator()(bouma_particles_refinement *h) const
    {
        bouma_particles_refinement_free(h);
    }
};
struct free_file {
    void operator()(bouma_file *h) const
    {
        bouma_file_free(h);
    }
};
struct free_plan {
    void operator()(bouma_plan *h) const
    {
        bouma_plan_free(h);
    }
};
struct free_memory {
    void operator()(bouma_io *h) const
    {
        bouma_io_memory_free(h);
    }
};

/* Functions of C++ that C calls back: an exception waits until C has
 * returned. */
class guard
{
  public:
    /* What call() returns, or 'otherwise' if it throws, or one has thrown. */
    template <class R, class Call> R run(R otherwise, Call call) noexcept
    {
#if BOUMA_HPP_THROWS
        try {
            return thrown_ ? otherwise : call();
        } catch (...) {
            thrown_ = std::current_exception();
            return otherwise;
        }
#else
        (void)otherwise;
        return call();
#endif
    }
    void rethrow() const
    {
#if BOUMA_HPP_THROWS
        if (thrown_)
            std::rethrow_exception(thrown_);
#endif
    }

  private:
    std::exception_ptr thrown_;
};

} // namespace detail

/* ---- types and arrays --------------------------------------------------- */

/* BOUMA_TYPE_F64 for double, and so on. */
template <class T> constexpr bouma_type type_of()
{
    using V = std::remove_cv_t<T>;
    static_assert(std::is_arithmetic_v<V> && !std::is_same_v<V, bool> &&
                      sizeof(V) <= 8,
                  "bouma stores integers of 8 to 64 bits, float and double");
    if (std::is_floating_point_v<V>)
        return sizeof(V) == 4 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64;
    int log2 = sizeof(V) == 1 ? 0 : sizeof(V) == 2 ? 1 : sizeof(V) == 4 ? 2 : 3;
    return static_cast<bouma_type>(
        (std::is_signed_v<V> ? BOUMA_TYPE_I8 : BOUMA_TYPE_U8) + log2);
}

/* Values one behind the other, as std::span of C++20 has them: of an array, a
 * std::vector or anything else with data() and size(), but never of a
 * temporary. */
template <class T> class span
{
  public:
    using value_type = std::remove_cv_t<T>;

    constexpr span() = default;
    constexpr span(T *first, std::size_t count) : data_(first), size_(count)
    {
    }
    template <std::size_t N> constexpr span(T (&all)[N]) : data_(all), size_(N)
    {
    }
    template <class C, class = std::enable_if_t<std::is_convertible_v<
                           decltype(std::declval<C &>().data()), T *>>>
    constexpr span(C &all) : data_(all.data()), size_(all.size())
    {
    }
    constexpr T *data() const
    {
        return data_;
    }
    constexpr std::size_t size() const
    {
        return size_;
    }
    constexpr bool empty() const
    {
        return size_ == 0;
    }
    constexpr T &operator[](std::size_t i) const
    {
        return data_[i];
    }
    constexpr T *begin() const
    {
        return data_;
    }
    constexpr T *end() const
    {
        return data_ + size_;
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* An array of N axes in memory that belongs to someone else. */
template <class T, std::size_t N> class view
{
  public:
    static_assert(N >= 1 && N <= 4, "arrays have 1 to 4 axes");
    using index = std::array<std::int64_t, N>;

    view() = default;
    /* Dense, in C order: the last axis is the fastest. */
    view(T *first, const index &extents) : data_(first), extent_(extents)
    {
        std::int64_t bytes = sizeof(T);
        for (std::size_t i = N; i-- > 0; bytes *= extents[i])
            stride_[i] = bytes;
    }
    /* Any strides, in bytes; they may be negative. */
    view(T *first, const index &extents, const index &strides)
        : data_(first), extent_(extents), stride_(strides)
    {
    }
    /* Of a span: one axis. */
    template <std::size_t M = N, class = std::enable_if_t<M == 1>>
    view(span<T> all)
        : view(all.data(), index{static_cast<std::int64_t>(all.size())})
    {
    }
    /* Of std::mdspan and its like. */
    template <class M,
              class = std::enable_if_t<
                  std::is_convertible_v<
                      decltype(std::declval<const M &>().data_handle()), T *> &&
                  M::rank() == N>>
    view(const M &m) : data_(m.data_handle())
    {
        for (std::size_t i = 0; i < N; i++) {
            extent_[i] = static_cast<std::int64_t>(m.extent(i));
            stride_[i] = static_cast<std::int64_t>(m.stride(i)) *
                         static_cast<std::int64_t>(sizeof(T));
        }
    }
    operator view<const T, N>() const
    {
        return view<const T, N>(data_, extent_, stride_);
    }

    T *data() const
    {
        return data_;
    }
    std::int64_t extent(std::size_t axis) const
    {
        return extent_[axis];
    }
    std::int64_t stride(std::size_t axis) const
    {
        return stride_[axis];
    }
    const index &extents() const
    {
        return extent_;
    }
    std::int64_t size() const
    {
        std::int64_t n = 1;
        for (std::int64_t e : extent_)
            n *= e;
        return n;
    }
    template <class... I> T &operator()(I... i) const
    {
        static_assert(sizeof...(I) == N, "as many indices as axes");
        return *at({static_cast<std::int64_t>(i)...});
    }
    /* The part lo <= index < hi. */
    view sub(const index &lo, const index &hi) const
    {
        index extents{};
        for (std::size_t i = 0; i < N; i++)
            extents[i] = hi[i] - lo[i];
        return view(at(lo), extents, stride_);
    }
    /* The bytes from the first to the last one. */
    std::size_t bytes() const
    {
        std::int64_t n = sizeof(T);
        for (std::size_t i = 0; i < N; i++)
            n += (extent_[i] - 1) * (stride_[i] < 0 ? -stride_[i] : stride_[i]);
        return size() > 0 ? static_cast<std::size_t>(n) : 0;
    }

  private:
    T *at(const index &i) const
    {
        using byte = std::conditional_t<std::is_const_v<T>, const char, char>;
        byte *place = reinterpret_cast<byte *>(data_);
        for (std::size_t axis = 0; axis < N; axis++)
            place += i[axis] * stride_[axis];
        return reinterpret_cast<T *>(place);
    }

    T *data_ = nullptr;
    index extent_{}, stride_{};
};

/* The same as view(), with the axes of Fortran or Eigen: the first is the
 * fastest. */
template <class T, std::size_t N>
view<T, N> column_major(T *first, const std::array<std::int64_t, N> &extents)
{
    std::array<std::int64_t, N> strides{};
    std::int64_t bytes = sizeof(T);
    for (std::size_t i = 0; i < N; bytes *= extents[i++])
        strides[i] = bytes;
    return view<T, N>(first, extents, strides);
}

/* An array that owns its values: what a read returns. */
template <class T> struct array {
    std::vector<T> values;
    std::vector<std::int64_t>
        shape; /* with the components, if there are several */

    template <std::size_t N> view<T, N> as()
    {
        typename view<T, N>::index extents{};
        for (std::size_t i = 0; i < N; i++)
            extents[i] = i < shape.size() ? shape[i] : 1;
        return view<T, N>(values.data(), extents);
    }
};

/* The samples lo <= index < hi. */
struct box : bouma_box {
    box() : bouma_box{}
    {
    }
    box(const bouma_box &other) : bouma_box(other)
    {
    }
    box(std::initializer_list<std::int64_t> low,
        std::initializer_list<std::int64_t> high)
        : bouma_box{}
    {
        std::size_t i = 0;
        for (std::int64_t at : low)
            if (i < BOUMA_MAX_DIMS)
                lo[i++] = at;
        i = 0;
        for (std::int64_t at : high)
            if (i < BOUMA_MAX_DIMS)
                hi[i++] = at;
    }
};

namespace detail
{

/* How an array lies in memory, for C: with 'components' above 1, the last axis
 * is theirs. */
template <class T, std::size_t N>
bouma_array array_of(const view<T, N> &v, int components, bouma_convert convert)
{
    bouma_array a = sized<bouma_array>();
    std::size_t axes = components > 1 ? N - 1 : N;

    a.type = type_of<T>();
    a.convert = convert;
    a.data = const_cast<std::remove_cv_t<T> *>(v.data());
    a.bytes = v.bytes();
    for (std::size_t i = 0; i < axes; i++)
        a.stride[i] = v.stride(i);
    if (components > 1)
        a.component_stride = v.stride(N - 1);
    return a;
}

/* From one to another; what is further apart than numbers go is negative. */
inline std::int64_t between(std::int64_t low, std::int64_t high)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(high) -
                                     static_cast<std::uint64_t>(low));
}

inline std::string by(const std::int64_t *numbers, std::size_t count)
{
    std::string text;
    for (std::size_t i = 0; i < count; i++)
        text += (i ? " x " : "") + std::to_string(numbers[i]);
    return text;
}

} // namespace detail

/* ---- what a program fills ----------------------------------------------- */

/* Structs of C with 'size' set, and nothing else: assign to their fields. Texts
 * must stay until they have been used. */
struct grid_spec : bouma_grid_spec {
    grid_spec() : bouma_grid_spec(detail::sized<bouma_grid_spec>())
    {
    }
    explicit grid_spec(std::initializer_list<std::int64_t> extents)
        : grid_spec()
    {
        for (std::int64_t n : extents)
            if (ndims < BOUMA_MAX_DIMS)
                shape[ndims++] = n;
    }
};
struct variable_spec : bouma_variable_spec {
    variable_spec() : bouma_variable_spec(detail::sized<bouma_variable_spec>())
    {
    }
};
struct particles_spec : bouma_particles_spec {
    explicit particles_spec(int axes = 3)
        : bouma_particles_spec(detail::sized<bouma_particles_spec>())
    {
        ndims = axes;
    }
};

/* What one call may read; 0: no limit. */
struct budget : bouma_budget {
    explicit budget(std::uint64_t most_bytes = 0, std::uint64_t most_points = 0,
                    double largest_error = 0)
        : bouma_budget(detail::sized<bouma_budget>())
    {
        bytes = most_bytes;
        points = most_points;
        error = largest_error;
    }
};
struct plan_spec : bouma_plan_spec {
    explicit plan_spec(int of_ranks = 0,
                       std::initializer_list<std::int64_t> extents = {})
        : bouma_plan_spec(detail::sized<bouma_plan_spec>())
    {
        ranks = of_ranks;
        for (std::int64_t n : extents)
            if (ndims < BOUMA_MAX_DIMS)
                shape[ndims++] = n;
    }
};
struct probe_spec : bouma_probe_spec {
    probe_spec() : bouma_probe_spec(detail::sized<bouma_probe_spec>())
    {
    }
};

/* Datasets and files in memory: options.io = memory.io(). Datasets that use it
 * may outlive it. */
class memory
{
  public:
    memory() : handle_(bouma_io_memory_new())
    {
    }
    const bouma_io *io() const /* nullptr: there was no memory */
    {
        return handle_.get();
    }

  private:
    std::unique_ptr<bouma_io, detail::free_memory> handle_;
};

/* Options. Fields can be assigned to; set() takes names and texts, which it
 * keeps. */
class options : public bouma_options
{
  public:
    options() : bouma_options(detail::sized<bouma_options>())
    {
    }
    options(const options &) = delete;
    options(options &&other) noexcept
        : bouma_options(other), texts_(std::move(other.texts_))
    {
    }
    options &operator=(const options &) = delete;
    options &operator=(options &&) = delete;

    options &set(const char *name, std::string value, status *st = nullptr)
    {
        char message[1000] = "";
        if (value.find('\0') != std::string::npos) {
            detail::fail(BOUMA_EINVAL,
                         std::string("option '") + name + "' has a zero byte",
                         st);
            return *this;
        }
        texts_.push_back(std::make_unique<std::string>(std::move(value)));
        int rc = bouma_options_set(this, name, texts_.back()->c_str(), message,
                                   sizeof(message));
        detail::finish(rc, st, [&message] { return message; });
        return *this;
    }
    /* What a call with these options is told by one of them, or by the
     * environment. */
    std::string get(const char *name, status *st = nullptr) const
    {
        char text[4096] = "", message[1000] = "";
        int rc = bouma_options_get(text, sizeof(text), this, name, message,
                                   sizeof(message));
        detail::finish(rc, st, [&message] { return message; });
        return text;
    }

  private:
    std::vector<std::unique_ptr<std::string>> texts_;
};

/* ---- attributes --------------------------------------------------------- */

class attributes
{
  public:
    explicit attributes(bouma_attributes *handle = nullptr) : handle_(handle)
    {
    }
    bouma_attributes *handle() const
    {
        return handle_;
    }

    void set(const char *name, const std::string &text, status *st = nullptr)
    {
        put(name, BOUMA_TYPE_STRING, text.size(), text.data(), st);
    }
    void set(const char *name, const char *text, status *st = nullptr)
    {
        set(name, std::string(text), st);
    }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    void set(const char *name, T number, status *st = nullptr)
    {
        put(name, type_of<T>(), 1, &number, st);
    }
    template <class T>
    void set(const char *name, const std::vector<T> &numbers,
             status *st = nullptr)
    {
        put(name, type_of<T>(), numbers.size(), numbers.data(), st);
    }

    /* get<double>(), get<std::int64_t>(), get<std::string>(), and vectors of
     * these numbers. A failure gives an empty one. */
    template <class T> T get(const char *name, status *st = nullptr) const
    {
        return get_as(name, st, static_cast<T *>(nullptr));
    }
    int count() const
    {
        return bouma_attributes_count(handle_);
    }
    /* What there is by a number or a name, of any type. */
    bouma_attribute at(int i, status *st = nullptr) const
    {
        bouma_attribute out = detail::sized<bouma_attribute>();
        detail::finish_by(bouma_attributes_get(&out, handle_, i), st, handle_);
        return out;
    }
    bouma_attribute find(const char *name, status *st = nullptr) const
    {
        bouma_attribute out = detail::sized<bouma_attribute>();
        detail::finish_by(bouma_attributes_find(&out, handle_, name), st,
                          handle_);
        return out;
    }

  private:
    void put(const char *name, bouma_type type, std::size_t count,
             const void *values, status *st)
    {
        detail::finish_by(
            bouma_attributes_set(handle_, name, type, count, values), st,
            handle_);
    }
    std::string get_as(const char *name, status *st, std::string *) const
    {
        const char *text = nullptr;
        int rc = bouma_attributes_get_text(&text, handle_, name);
        detail::finish_by(rc, st, handle_);
        return rc == BOUMA_OK ? text : "";
    }
    double get_as(const char *name, status *st, double *) const
    {
        double number = 0;
        int rc = bouma_attributes_get_number(&number, handle_, name);
        detail::finish_by(rc, st, handle_);
        return number;
    }
    std::int64_t get_as(const char *name, status *st, std::int64_t *) const
    {
        std::int64_t number = 0;
        int rc = bouma_attributes_get_int64(&number, handle_, name);
        detail::finish_by(rc, st, handle_);
        return number;
    }
    std::vector<double> get_as(const char *name, status *st,
                               std::vector<double> *) const
    {
        return get_all<double>(name, st, bouma_attributes_get_numbers);
    }
    std::vector<std::int64_t> get_as(const char *name, status *st,
                                     std::vector<std::int64_t> *) const
    {
        return get_all<std::int64_t>(name, st, bouma_attributes_get_int64s);
    }
    template <class T, class Get>
    std::vector<T> get_all(const char *name, status *st, Get get_values) const
    {
        bouma_attribute found = detail::sized<bouma_attribute>();
        std::vector<T> values;
        int rc = bouma_attributes_find(&found, handle_, name);
        if (rc == BOUMA_OK) {
            values.resize(found.count);
            rc = get_values(values.data(), values.size(), handle_, name);
        }
        if (!detail::finish_by(rc, st, handle_))
            values.clear();
        return values;
    }

    bouma_attributes *handle_;
};

/* ---- from coarse to fine ------------------------------------------------ */

/* A box of a variable that goes on to finer levels: see variable::refine(). */
class refinement
{
  public:
    refinement() = default;
    refinement(bouma_refinement *handle, bouma_type type, int components)
        : handle_(handle), type_(type), components_(components)
    {
    }
    bouma_refinement *handle() const
    {
        return handle_.get();
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    /* One level further. */
    void next(status *st = nullptr)
    {
        detail::finish_by(bouma_refinement_next(handle()), st, handle());
    }
    /* As far as a budget allows. */
    void next(const bouma_budget &most, status *st = nullptr)
    {
        answer_ = detail::sized<bouma_answer>();
        detail::finish_by(
            bouma_refinement_next_within(&answer_, handle(), &most), st,
            handle());
    }
    /* Of the last call with a budget, after BOUMA_ELIMIT, too. */
    const bouma_answer &answer() const
    {
        return answer_;
    }
    bouma_selection selection(status *st = nullptr) const
    {
        bouma_selection out = detail::sized<bouma_selection>();
        get(nullptr, &out, nullptr, st);
        return out;
    }
    int level(status *st = nullptr) const
    {
        int out = 0;
        get(nullptr, nullptr, &out, st);
        return out;
    }
    /* What is there, until the refinement goes on: T is the type of the
     * variable, and N the number of axes, with that of the components. */
    template <class T, std::size_t N>
    view<const T, N> samples(status *st = nullptr) const
    {
        bouma_selection what = detail::sized<bouma_selection>();
        const void *data = nullptr;
        std::array<std::int64_t, N> extents{};
        if (!get(&data, &what, nullptr, st))
            return {};
        std::size_t axes = static_cast<std::size_t>(what.ndims);
        if (type_of<T>() != type_ || axes + (components_ > 1) != N) {
            detail::fail(BOUMA_EINVAL,
                         std::string("the samples are of type ") +
                             bouma_type_name(type_) + " and have " +
                             std::to_string(axes + (components_ > 1)) + " axes",
                         st);
            return {};
        }
        for (std::size_t i = 0; i < N; i++)
            extents[i] = i < axes ? what.shape[i] : components_;
        return view<const T, N>(static_cast<const T *>(data), extents);
    }

  private:
    friend class variable;
    bool get(const void **data, bouma_selection *what, int *at,
             status *st) const
    {
        return detail::finish_by(bouma_refinement_get(data, what, at, handle()),
                                 st, handle());
    }

    std::unique_ptr<bouma_refinement, detail::free_refinement> handle_;
    bouma_type type_ = static_cast<bouma_type>(0);
    int components_ = 1;
    bouma_answer answer_ = detail::sized<bouma_answer>();
};

/* Which patches are read: see bouma_patch_query. */
struct patch_query {
    const bouma_box *box = nullptr;
    int level = 0;
    bool within = false; /* only with values from low to high */
    int component = 0;
    double low = 0, high = 0;
    /* The level of a patch, or -1 to skip it; empty: 'level'. */
    std::function<int(const bouma_patch_info &)> choose;
};

/* ---- variables ---------------------------------------------------------- */

struct request;

/* Bins of a histogram: of equal width, from the lowest value to the highest if
 * no ends are given. */
class bins
{
  public:
    explicit bins(std::size_t count, double low = 0, double high = 0)
        : spec_(detail::sized<bouma_histogram_spec>())
    {
        spec_.bins = count;
        spec_.low = low;
        spec_.high = high;
    }
    /* Between these edges, which ascend. */
    static bins between(std::vector<double> edges)
    {
        bins out(edges.empty() ? 0 : edges.size() - 1);
        out.edges_ = std::move(edges);
        return out;
    }
    bins &component(int number)
    {
        spec_.component = number;
        return *this;
    }
    /* Read no values, only what is known of them. */
    bins &index_only()
    {
        spec_.index_only = 1;
        return *this;
    }
    /* It points to what is here. */
    bouma_histogram_spec raw() const
    {
        bouma_histogram_spec out = spec_;
        out.edges = edges_.empty() ? nullptr : edges_.data();
        return out;
    }

  private:
    bouma_histogram_spec spec_;
    std::vector<double> edges_;
};

/* A histogram: what is known of its bins, and of the rest. */
struct histogram {
    bouma_histogram about;
    std::vector<bouma_bin> bins;
};

class variable
{
  public:
    explicit variable(bouma_variable *handle = nullptr) : handle_(handle)
    {
    }
    bouma_variable *handle() const
    {
        return handle_;
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    bouma_variable_info info(status *st = nullptr) const
    {
        bouma_variable_info out = detail::sized<bouma_variable_info>();
        detail::finish_by(bouma_variable_info_get(&out, handle_), st, handle_);
        return out;
    }
    bouma_range range(int component = 0, status *st = nullptr) const
    {
        bouma_range out{};
        detail::finish_by(bouma_variable_range(&out, handle_, component), st,
                          handle_);
        return out;
    }
    /* How many samples of a grid have which values; without limits, all samples
     * are read. */
    bouma::histogram histogram(const bins &in, const bouma_box *where = nullptr,
                               const bouma_budget *limits = nullptr,
                               status *st = nullptr) const
    {
        bouma_histogram_spec raw = in.raw();
        bouma::histogram out{detail::sized<bouma_histogram>(),
                             std::vector<bouma_bin>(raw.bins + 1)};
        detail::finish_by(bouma_variable_histogram(&out.about, out.bins.data(),
                                                   handle_, &raw, where,
                                                   limits),
                          st, handle_);
        out.bins.resize(raw.bins);
        return out;
    }
    bouma_selection select(int level, const bouma_box *where = nullptr,
                           status *st = nullptr) const
    {
        bouma_selection out = detail::sized<bouma_selection>();
        detail::finish_by(bouma_variable_select(&out, handle_, level, where),
                          st, handle_);
        return out;
    }
    std::uint64_t level_bytes(int level) const
    {
        return bouma_variable_level_bytes(handle_, level);
    }
    bouma::attributes attributes() const
    {
        return bouma::attributes(bouma_variable_attributes(handle_));
    }

    /* Hand over the samples of 'where', or of the whole grid. What is borrowed
     * must stay, unchanged, until the step has ended. */
    template <class T, std::size_t N>
    void put_borrow(const view<T, N> &samples, status *st = nullptr)
    {
        put(bouma_variable_put_borrow, samples, nullptr, BOUMA_CONVERT_EXACT,
            st);
    }
    template <class T, std::size_t N>
    void put_borrow(const view<T, N> &samples, const bouma_box &where,
                    bouma_convert convert = BOUMA_CONVERT_EXACT,
                    status *st = nullptr)
    {
        put(bouma_variable_put_borrow, samples, &where, convert, st);
    }
    template <class T, std::size_t N>
    void put_copy(const view<T, N> &samples, status *st = nullptr)
    {
        put(bouma_variable_put_copy, samples, nullptr, BOUMA_CONVERT_EXACT, st);
    }
    template <class T, std::size_t N>
    void put_copy(const view<T, N> &samples, const bouma_box &where,
                  bouma_convert convert = BOUMA_CONVERT_EXACT,
                  status *st = nullptr)
    {
        put(bouma_variable_put_copy, samples, &where, convert, st);
    }

    /* Read 'where' (nullptr: the whole grid) at 'level' into memory of the
     * caller, whose extents must be those of select(). */
    template <class T, std::size_t N>
    void read(const view<T, N> &out, int level = 0,
              const bouma_box *where = nullptr,
              bouma_convert convert = BOUMA_CONVERT_EXACT,
              status *st = nullptr) const
    {
        status own;
        bouma_variable_info about = info(&own);
        if (own)
            own = check_read(out, about.components, level, where);
        if (!own)
            return detail::fail(own.code, own.message, st);
        bouma_array a = detail::array_of(out, about.components, convert);
        if (out.size() == 0)
            return detail::finish_by(BOUMA_OK, st, handle_), void();
        detail::finish_by(bouma_variable_read(handle_, level, where, &a), st,
                          handle_);
    }
    template <class T, std::size_t N>
    void read(const view<T, N> &out, int level, const bouma_box &where,
              bouma_convert convert = BOUMA_CONVERT_EXACT,
              status *st = nullptr) const
    {
        read(out, level, &where, convert, st);
    }
    /* The same into an array of its own: v.read<float>(1). */
    template <class T>
    array<T> read(int level = 0, const bouma_box *where = nullptr,
                  bouma_convert convert = BOUMA_CONVERT_EXACT,
                  status *st = nullptr) const
    {
        array<T> out;
        status own;
        bouma_variable_info about = info(&own);
        bouma_selection what = detail::sized<bouma_selection>();
        if (own)
            what = select(level, where, &own);
        if (!own) {
            detail::fail(own.code, own.message, st);
            return out;
        }
        std::size_t count = static_cast<std::size_t>(about.components);
        for (int i = 0; i < what.ndims; i++) {
            out.shape.push_back(what.shape[i]);
            count *= static_cast<std::size_t>(what.shape[i]);
        }
        if (about.components > 1)
            out.shape.push_back(about.components);
        out.values.resize(count);
        bouma_array a = detail::sized<bouma_array>();
        a.type = type_of<T>();
        a.convert = convert;
        a.data = out.values.data();
        a.bytes = count * sizeof(T);
        if (count == 0)
            return detail::finish_by(BOUMA_OK, st, handle_), out;
        if (!detail::finish_by(bouma_variable_read(handle_, level, where, &a),
                               st, handle_))
            out = array<T>();
        return out;
    }
    template <class T>
    array<T> read(int level, const bouma_box &where,
                  bouma_convert convert = BOUMA_CONVERT_EXACT,
                  status *st = nullptr) const
    {
        return read<T>(level, &where, convert, st);
    }

    /* Hold 'where' at 'level', or at the finest level within a budget, to go
     * on from there. If the budget is too small (BOUMA_ELIMIT), there is no
     * refinement, but its answer() says what is needed. */
    refinement refine(int level, const bouma_box *where = nullptr,
                      status *st = nullptr) const
    {
        bouma_refinement *out = nullptr;
        int rc = bouma_refinement_open(&out, handle_, level, where);
        return refined(out, rc, detail::sized<bouma_answer>(), st);
    }
    refinement refine(const bouma_budget &most,
                      const bouma_box *where = nullptr,
                      status *st = nullptr) const
    {
        bouma_refinement *out = nullptr;
        bouma_answer told = detail::sized<bouma_answer>();
        int rc =
            bouma_refinement_open_within(&out, &told, handle_, where, &most);
        return refined(out, rc, told, st);
    }
    /* Pass patch by patch to each(const bouma_patch_info &, int level, const
     * bouma_selection &, const void *samples), which returns false to end
     * (BOUMA_EABORTED). What it throws goes on to the caller. */
    template <class Each>
    void for_each_patch(const patch_query &which, Each each,
                        status *st = nullptr) const
    {
        struct call {
            Each *each;
            const patch_query *which;
            detail::guard guard;
        } mine = {&each, &which, {}};
        bouma_patch_query raw = detail::sized<bouma_patch_query>();
        raw.box = which.box;
        raw.level = which.level;
        raw.within = which.within;
        raw.component = which.component;
        raw.low = which.low;
        raw.high = which.high;
        raw.user = &mine;
        if (which.choose)
            raw.choose = [](void *user, const bouma_patch_info *patch) -> int {
                call *c = static_cast<call *>(user);
                return c->guard.run(-1,
                                    [&] { return c->which->choose(*patch); });
            };
        raw.each = [](void *user, const bouma_patch_info *patch, int level,
                      const bouma_selection *what, const void *samples) -> int {
            call *c = static_cast<call *>(user);
            return c->guard.run(1, [&] {
                return (*c->each)(*patch, level, *what, samples) ? 0 : 1;
            });
        };
        int rc = bouma_variable_query(handle_, &raw);
        mine.guard.rethrow();
        detail::finish_by(rc, st, handle_);
    }

    /* The same of many steps; they are the first axis. Collective. */
    template <class T>
    array<T> read_series(span<const std::int64_t> steps, int level = 0,
                         const bouma_box *where = nullptr,
                         bouma_convert convert = BOUMA_CONVERT_EXACT,
                         status *st = nullptr) const
    {
        array<T> out;
        status own;
        bouma_variable_info about = info(&own);
        bouma_selection what = detail::sized<bouma_selection>();
        if (own)
            what = select(level, where, &own);
        if (!own) {
            detail::fail(own.code, own.message, st);
            return out;
        }
        std::size_t count =
            static_cast<std::size_t>(about.components) * steps.size();
        out.shape.push_back(static_cast<std::int64_t>(steps.size()));
        for (int i = 0; i < what.ndims; i++) {
            out.shape.push_back(what.shape[i]);
            count *= static_cast<std::size_t>(what.shape[i]);
        }
        if (about.components > 1)
            out.shape.push_back(about.components);
        out.values.resize(count);
        bouma_array a = detail::sized<bouma_array>();
        a.type = type_of<T>();
        a.convert = convert;
        a.data = out.values.data();
        a.bytes = count * sizeof(T);
        bouma_series series = detail::sized<bouma_series>();
        series.steps = steps.data();
        series.step_count = steps.size();
        series.level = level;
        series.box = where;
        series.array = &a;
        if (!detail::finish_by(
                bouma_variable_read_series(nullptr, handle_, &series), st,
                handle_))
            out = array<T>();
        return out;
    }

    template <class T>
    array<T> read_series(span<const std::int64_t> steps, int level,
                         const bouma_box &where,
                         bouma_convert convert = BOUMA_CONVERT_EXACT,
                         status *st = nullptr) const
    {
        return read_series<T>(steps, level, &where, convert, st);
    }

  private:
    friend struct request;
    refinement refined(bouma_refinement *out, int rc, const bouma_answer &told,
                       status *st) const
    {
        refinement r;
        if (detail::finish_by(rc, st, handle_)) {
            bouma_variable_info about = info();
            r = refinement(out, about.type, about.components);
        }
        r.answer_ = told;
        return r;
    }
    template <class T, std::size_t N>
    status check_read(const view<T, N> &out, int components, int level,
                      const bouma_box *where) const
    {
        status own;
        bouma_selection what = select(level, where, &own);
        return own ? check(out, components, what.ndims, what.shape) : own;
    }
    /* The extents of an array are those of the samples. */
    template <class T, std::size_t N>
    static status check(const view<T, N> &v, int components, int ndims,
                        const std::int64_t *shape)
    {
        std::array<std::int64_t, BOUMA_MAX_DIMS + 1> want{}; /* extents */
        std::size_t axes = static_cast<std::size_t>(ndims);
        for (std::size_t i = 0; i < axes; i++)
            want[i] = shape[i];
        if (components > 1)
            want[axes++] = components;
        bool same = axes == N;
        for (std::size_t i = 0; same && i < N; i++)
            same = want[i] == v.extent(i);
        if (same)
            return status();
        return {BOUMA_EINVAL,
                "the array has " + detail::by(v.extents().data(), N) +
                    " values, the samples " + detail::by(want.data(), axes)};
    }
    template <class Put, class T, std::size_t N>
    void put(Put function, const view<T, N> &v, const bouma_box *where,
             bouma_convert convert, status *st)
    {
        status own;
        bouma_variable_info about = info(&own);
        bouma_selection what = detail::sized<bouma_selection>();
        if (own)
            what = select(0, nullptr, &own);
        if (own) {
            std::array<std::int64_t, BOUMA_MAX_DIMS> extent{};
            for (std::size_t i = 0; i < BOUMA_MAX_DIMS; i++)
                extent[i] = where ? detail::between(where->lo[i], where->hi[i])
                                  : what.shape[i];
            own = check(v, about.components, what.ndims, extent.data());
        }
        if (own && v.size() == 0) /* a block without samples is none */
            return detail::finish_by(BOUMA_OK, st, handle_), void();
        bouma_array a = detail::array_of(v, about.components, convert);
        if (!own)
            a.type =
                static_cast<bouma_type>(0); /* the step fails on all ranks */
        int rc = function(handle_, own ? where : nullptr, &a);
        if (!own)
            return detail::fail(own.code, own.message, st);
        detail::finish_by(rc, st, handle_);
    }

    bouma_variable *handle_;
};

/* ---- grids -------------------------------------------------------------- */

class grid
{
  public:
    explicit grid(bouma_grid *handle = nullptr) : handle_(handle)
    {
    }
    bouma_grid *handle() const
    {
        return handle_;
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    variable define_variable(const char *name, const bouma_variable_spec &spec,
                             status *st = nullptr)
    {
        bouma_variable *out = nullptr;
        detail::finish_by(bouma_variable_define(&out, handle_, name, &spec), st,
                          handle_);
        return variable(out);
    }
    /* With the type of T, and all else as by default or in 'spec'. */
    template <class T>
    variable define_variable(const char *name,
                             bouma_variable_spec spec = variable_spec(),
                             status *st = nullptr)
    {
        spec.type = type_of<T>();
        return define_variable(name, spec, st);
    }
    variable operator[](const char *name) const
    {
        return find(name);
    }
    variable find(const char *name, status *st = nullptr) const
    {
        bouma_variable *out = bouma_grid_find_variable(handle_, name);
        detail::finish_by(out ? BOUMA_OK : BOUMA_ENOTFOUND, st, handle_);
        return variable(out);
    }
    std::vector<variable> variables() const
    {
        std::vector<variable> all;
        for (int i = 0; i < bouma_grid_variable_count(handle_); i++)
            all.emplace_back(bouma_grid_variable(handle_, i));
        return all;
    }
    bouma_grid_info info(status *st = nullptr) const
    {
        bouma_grid_info out = detail::sized<bouma_grid_info>();
        detail::finish_by(bouma_grid_info_get(&out, handle_), st, handle_);
        return out;
    }
    bouma::box box_of(const bouma_bounds &bounds, status *st = nullptr) const
    {
        bouma::box out;
        detail::finish_by(bouma_grid_box(&out, handle_, &bounds), st, handle_);
        return out;
    }
    bouma_bounds bounds_of(const bouma_box *where = nullptr,
                           bouma_axes axes = BOUMA_AXES_XYZ,
                           status *st = nullptr) const
    {
        bouma_bounds out{};
        detail::finish_by(bouma_grid_bounds(&out, handle_, axes, where), st,
                          handle_);
        return out;
    }
    bouma::attributes attributes() const
    {
        return bouma::attributes(bouma_grid_attributes(handle_));
    }

  private:
    bouma_grid *handle_;
};

/* ---- particles ---------------------------------------------------------- */

/* Arrays for the variables of particles, to put or to read into. */
class columns
{
  public:
    columns() = default;
    columns(columns &&) = default;
    columns(const columns &) = delete;
    columns &operator=(columns &&) = default;
    columns &operator=(const columns &) = delete;

    /* Arrays of one axis, or [particles][components]. */
    template <class T, std::size_t N>
    columns &add(const variable &v, const view<T, N> &values,
                 bouma_convert convert = BOUMA_CONVERT_EXACT)
    {
        static_assert(N <= 2, "[particles] or [particles][components]");
        bouma_array a = detail::array_of(values, N == 2 ? 2 : 1, convert);
        if (N == 2)
            a.component_stride = values.stride(N - 1);
        append(v, a, values.extent(0), N == 2 ? values.extent(N - 1) : 1);
        return *this;
    }
    template <class T> columns &add(const variable &v, span<T> values)
    {
        return add(v, view<T, 1>(values));
    }
    template <class T> columns &add(const variable &v, std::vector<T> &values)
    {
        return add(v, span<T>(values));
    }
    template <class T>
    columns &add(const variable &v, const std::vector<T> &values)
    {
        return add(v, span<const T>(values));
    }
    template <class T>
    columns &add(const variable &v, std::vector<T> &&values) = delete;

    /* A member of each struct: a number, an array of numbers or a std::array.
     */
    template <class S, class M>
    columns &add(const variable &v, span<S> structs,
                 M std::remove_cv_t<S>::*member)
    {
        using T = element_t<M>;
        bouma_array a = detail::sized<bouma_array>();
        a.type = type_of<T>();
        a.stride[0] = sizeof(S);
        if (!structs.empty()) {
            a.data = const_cast<void *>(
                static_cast<const void *>(&(structs[0].*member)));
            a.bytes = (structs.size() - 1) * sizeof(S) + sizeof(M);
        }
        append(v, a, static_cast<std::int64_t>(structs.size()),
               static_cast<std::int64_t>(sizeof(M) / sizeof(T)));
        return *this;
    }
    template <class S, class M>
    columns &add(const variable &v, std::vector<S> &structs, M S::*member)
    {
        return add(v, span<S>(structs), member);
    }
    template <class S, class M>
    columns &add(const variable &v, const std::vector<S> &structs, M S::*member)
    {
        return add(v, span<const S>(structs), member);
    }
    template <class S, class M>
    columns &add(const variable &v, std::vector<S> &&structs,
                 M S::*member) = delete;

    std::size_t size() const
    {
        return list_.size();
    }
    const bouma_column *data() const
    {
        return list_.empty() ? nullptr : list_.data();
    }
    /* The particles that the arrays have, or have room for. */
    std::uint64_t count() const
    {
        return counts_.empty() ? 0 : static_cast<std::uint64_t>(counts_[0]);
    }
    /* What is wrong with them, or an empty text. */
    const std::string &mistake() const
    {
        return mistake_;
    }

  private:
    template <class M> struct element {
        using type = M;
    };
    template <class T, std::size_t N> struct element<T[N]> {
        using type = T;
    };
    template <class T, std::size_t N> struct element<std::array<T, N>> {
        using type = T;
    };
    template <class M> using element_t = typename element<M>::type;

    void append(const variable &v, bouma_array a, std::int64_t count,
                std::int64_t components)
    {
        status st;
        bouma_variable_info about = v.info(&st);
        if (!st)
            mistake_ = st.message;
        else if (about.components != components)
            mistake_ = std::string("the variable '") + about.name + "' has " +
                       std::to_string(about.components) +
                       " component(s), its array " + std::to_string(components);
        else if (!counts_.empty() && count != counts_[0])
            mistake_ = "the columns have " + std::to_string(counts_[0]) +
                       " and " + std::to_string(count) + " particles";
        if (!a.data) /* no value, but an address */
            a.data = this;
        arrays_.push_back(a);
        list_.push_back({sizeof(bouma_column), v.handle(), &arrays_.back()});
        counts_.push_back(count);
    }

    std::deque<bouma_array> arrays_; /* they stay where they are */
    std::vector<bouma_column> list_;
    std::vector<std::int64_t> counts_;
    std::string mistake_;
};

/* Which particles: all of them, unless something is said. */
class query
{
  public:
    query() : raw_(detail::sized<bouma_particles_query>())
    {
    }

    query &quality(double to, double from = 0)
    {
        raw_.quality = to;
        raw_.from = from;
        return *this;
    }
    /* low <= position < high, x first. Axes that are left out have no limits. */
    query &box(std::initializer_list<double> low,
               std::initializer_list<double> high)
    {
        bouma_bounds b{};
        std::size_t i = 0;
        b.axes = BOUMA_AXES_XYZ;
        for (int axis = 0; axis < BOUMA_MAX_DIMS; axis++) {
            b.low[axis] = -std::numeric_limits<double>::infinity();
            b.high[axis] = std::numeric_limits<double>::infinity();
        }
        for (double at : low)
            if (i < BOUMA_MAX_DIMS)
                b.low[i++] = at;
        i = 0;
        for (double at : high)
            if (i < BOUMA_MAX_DIMS)
                b.high[i++] = at;
        return box(b);
    }
    query &box(const bouma_bounds &bounds)
    {
        bounds_ = bounds;
        has_bounds_ = true;
        return *this;
    }
    /* low <= value <= high; where() has a range, the others one end of it. */
    template <class L, class H>
    query &where(const variable &v, L low, H high, int component = 0)
    {
        return add(v, value(low), value(high), component);
    }
    /* Conditions as a text, which must hold, too: see
     * bouma_particles_check_where(). */
    query &where(const std::string &text)
    {
        where_ = text;
        has_where_ = true;
        return *this;
    }
    template <class L>
    query &at_least(const variable &v, L low, int component = 0)
    {
        return add(v, value(low), bouma_value{}, component);
    }
    template <class H>
    query &at_most(const variable &v, H high, int component = 0)
    {
        return add(v, bouma_value{}, value(high), component);
    }
    /* Return these variables, instead of all. */
    query &returns(std::initializer_list<variable> wanted)
    {
        variables_.clear();
        for (const variable &v : wanted)
            variables_.push_back(v.handle());
        return *this;
    }
    /* [particles][components] instead of [components][particles]. */
    query &interleaved()
    {
        raw_.order = BOUMA_COMPONENT_ORDER_INTERLEAVED;
        return *this;
    }
    /* For restart(): an equal share for each rank. */
    query &shares()
    {
        raw_.shares = 1;
        return *this;
    }
    /* For C; it points into this query. */
    bouma_particles_query raw() const
    {
        bouma_particles_query out = raw_;
        out.box = has_bounds_ ? &bounds_ : nullptr;
        out.conditions = conditions_.empty() ? nullptr : conditions_.data();
        out.condition_count = conditions_.size();
        out.variables = variables_.empty() ? nullptr : variables_.data();
        out.variable_count = variables_.size();
        out.where = has_where_ ? where_.c_str() : nullptr;
        return out;
    }

  private:
    template <class T> static bouma_value value(T number)
    {
        if constexpr (std::is_floating_point_v<T>)
            return bouma_value_real(static_cast<double>(number));
        else if constexpr (std::is_signed_v<T>)
            return bouma_value_int(number);
        else
            return bouma_value_uint(number);
    }
    query &add(const variable &v, bouma_value low, bouma_value high,
               int component)
    {
        bouma_condition c = detail::sized<bouma_condition>();
        c.variable = v.handle();
        c.component = component;
        c.low = low;
        c.high = high;
        conditions_.push_back(c);
        return *this;
    }

    bouma_particles_query raw_;
    bouma_bounds bounds_{};
    bool has_bounds_ = false;
    std::vector<bouma_condition> conditions_;
    std::vector<bouma_variable *> variables_;
    std::string where_;
    bool has_where_ = false;
};

/* Particles in memory. */
class particle_data
{
  public:
    explicit particle_data(bouma_particle_data *handle = nullptr)
        : handle_(handle)
    {
    }
    bouma_particle_data *handle() const
    {
        return handle_.get();
    }
    std::size_t count() const
    {
        return handle_ ? static_cast<std::size_t>(handle_->count) : 0;
    }
    /* All values of a variable, as the query has ordered its components. T must
     * be its type. */
    template <class T>
    span<const T> column(const char *name, status *st = nullptr) const
    {
        for (std::size_t i = 0; handle_ && i < handle_->variable_count; i++) {
            bouma_variable_info v = variable(handle_->variables[i]).info();
            if (std::string(v.name) != name)
                continue;
            if (v.type != type_of<T>()) {
                detail::fail(BOUMA_EINVAL,
                             std::string("the variable '") + name +
                                 "' has the type " + bouma_type_name(v.type),
                             st);
                return {};
            }
            if (st)
                *st = status();
            return {static_cast<const T *>(handle_->columns[i]),
                    count() * static_cast<std::size_t>(v.components)};
        }
        detail::fail(BOUMA_ENOTFOUND,
                     std::string("there is no variable '") + name +
                         "' among these particles",
                     st);
        return {};
    }

  private:
    std::unique_ptr<bouma_particle_data, detail::free_particle_data> handle_;
};

/* Particles of a query that come from coarse to fine, each once: see
 * particles::refine(). */
class particles_refinement
{
  public:
    explicit particles_refinement(bouma_particles_refinement *handle = nullptr)
        : handle_(handle)
    {
    }
    bouma_particles_refinement *handle() const
    {
        return handle_.get();
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    /* As many more as the budget allows. */
    particle_data next(const bouma_budget &most = budget(),
                       status *st = nullptr)
    {
        bouma_particle_data *out = nullptr;
        answer_ = detail::sized<bouma_answer>();
        int rc =
            bouma_particles_refinement_next(&out, &answer_, handle(), &most);
        detail::finish_by(rc, st, handle());
        return particle_data(out);
    }
    /* The same into a column for each variable of the query, in their order;
     * returns how many have come. */
    std::uint64_t next_into(const columns &c,
                            const bouma_budget &most = budget(),
                            status *st = nullptr)
    {
        answer_ = detail::sized<bouma_answer>();
        if (!c.mistake().empty()) {
            detail::fail(BOUMA_EINVAL, c.mistake(), st);
            return 0;
        }
        int rc = bouma_particles_refinement_next_into(
            &answer_, handle(), &most, c.data(), c.size(), c.count());
        return detail::finish_by(rc, st, handle()) ? answer_.points : 0;
    }
    /* Of the last call, after BOUMA_ELIMIT, too. */
    const bouma_answer &answer() const
    {
        return answer_;
    }

  private:
    std::unique_ptr<bouma_particles_refinement, detail::free_refinement>
        handle_;
    bouma_answer answer_ = detail::sized<bouma_answer>();
};

class particles
{
  public:
    explicit particles(bouma_particles *handle = nullptr) : handle_(handle)
    {
    }
    bouma_particles *handle() const
    {
        return handle_;
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    variable position() const
    {
        return variable(bouma_particles_position(handle_));
    }
    variable define_variable(const char *name, const bouma_variable_spec &spec,
                             status *st = nullptr)
    {
        bouma_variable *out = nullptr;
        detail::finish_by(
            bouma_particles_define_variable(&out, handle_, name, &spec), st,
            handle_);
        return variable(out);
    }
    template <class T>
    variable define_variable(const char *name,
                             bouma_variable_spec spec = variable_spec(),
                             status *st = nullptr)
    {
        spec.type = type_of<T>();
        return define_variable(name, spec, st);
    }
    variable operator[](const char *name) const
    {
        return find(name);
    }
    variable find(const char *name, status *st = nullptr) const
    {
        bouma_variable *out = bouma_particles_find_variable(handle_, name);
        detail::finish_by(out ? BOUMA_OK : BOUMA_ENOTFOUND, st, handle_);
        return variable(out);
    }
    std::vector<variable> variables() const
    {
        std::vector<variable> all;
        for (int i = 0; i < bouma_particles_variable_count(handle_); i++)
            all.emplace_back(bouma_particles_variable(handle_, i));
        return all;
    }
    bouma_particles_info info(status *st = nullptr) const
    {
        bouma_particles_info out = detail::sized<bouma_particles_info>();
        detail::finish_by(bouma_particles_info_get(&out, handle_), st, handle_);
        return out;
    }
    bouma_particles_file file(std::int64_t i, status *st = nullptr) const
    {
        bouma_particles_file out = detail::sized<bouma_particles_file>();
        detail::finish_by(bouma_particles_file_get(&out, handle_, i), st,
                          handle_);
        return out;
    }
    bouma_particles_node node(std::int64_t i, status *st = nullptr) const
    {
        bouma_particles_node out = detail::sized<bouma_particles_node>();
        detail::finish_by(bouma_particles_node_get(&out, handle_, i), st,
                          handle_);
        return out;
    }
    bouma::attributes attributes() const
    {
        return bouma::attributes(bouma_particles_attributes(handle_));
    }

    /* Hand over the particles of these columns. */
    void put_borrow(const columns &c, status *st = nullptr)
    {
        put(bouma_particles_put_borrow, c, st);
    }
    void put_copy(const columns &c, status *st = nullptr)
    {
        put(bouma_particles_put_copy, c, st);
    }

    std::uint64_t count(const query &which = query(),
                        status *st = nullptr) const
    {
        std::uint64_t n = 0;
        bouma_particles_query raw = which.raw();
        detail::finish_by(bouma_particles_count(&n, handle_, &raw), st,
                          handle_);
        return n;
    }
    /* Fails if a query cannot have this text as its conditions. */
    void check_where(const std::string &text, status *st = nullptr) const
    {
        detail::finish_by(bouma_particles_check_where(handle_, text.c_str()),
                          st, handle_);
    }
    /* How many particles have which values of a variable; without limits, all
     * values are read. */
    bouma::histogram histogram(const variable &v, const bins &in,
                               const query &which = query(),
                               const bouma_budget *limits = nullptr,
                               status *st = nullptr) const
    {
        bouma_histogram_spec raw = in.raw();
        bouma_particles_query all = which.raw();
        bouma::histogram out{detail::sized<bouma_histogram>(),
                             std::vector<bouma_bin>(raw.bins + 1)};
        detail::finish_by(bouma_particles_histogram(&out.about, out.bins.data(),
                                                    v.handle(), &raw, &all,
                                                    limits),
                          st, handle_);
        out.bins.resize(raw.bins);
        return out;
    }
    particle_data read(const query &which = query(), status *st = nullptr) const
    {
        bouma_particle_data *out = nullptr;
        bouma_particles_query raw = which.raw();
        detail::finish_by(bouma_particles_read(&out, handle_, &raw), st,
                          handle_);
        return particle_data(out);
    }
    particle_data sample(std::uint64_t number, std::uint64_t seed = 0,
                         const query &which = query(),
                         status *st = nullptr) const
    {
        bouma_particle_data *out = nullptr;
        bouma_particles_query raw = which.raw();
        detail::finish_by(
            bouma_particles_sample(&out, handle_, &raw, number, seed), st,
            handle_);
        return particle_data(out);
    }
    /* Read them from coarse to fine, within budgets. */
    particles_refinement refine(const query &which = query(),
                                status *st = nullptr) const
    {
        bouma_particles_refinement *out = nullptr;
        bouma_particles_query raw = which.raw();
        int rc = bouma_particles_refinement_open(&out, handle_, &raw);
        detail::finish_by(rc, st, handle_);
        return particles_refinement(out);
    }
    /* Give each rank the particles of its query; nullptr: an equal share.
     * Collective. */
    particle_data restart(const query *which, status *st = nullptr) const
    {
        bouma_particle_data *out = nullptr;
        bouma_particles_query raw = which ? which->raw() : query().raw();
        detail::finish_by(
            bouma_particles_restart(&out, handle_, which ? &raw : nullptr), st,
            handle_);
        return particle_data(out);
    }
    /* The same into arrays of the caller; returns how many there are, also if
     * they are more than the arrays have room for (BOUMA_ELIMIT). */
    std::uint64_t read_into(const columns &c, const query &which = query(),
                            status *st = nullptr) const
    {
        bouma_particles_query raw = which.raw();
        return into(bouma_particles_read_into, c, &raw, st);
    }
    /* As many as the columns have room for; seed 0 is the even sample. */
    std::uint64_t sample_into(const columns &c, std::uint64_t seed = 0,
                              const query &which = query(),
                              status *st = nullptr) const
    {
        bouma_particles_query raw = which.raw();
        return into(
            [seed](std::uint64_t *n, bouma_particles *set,
                   const bouma_particles_query *q, const bouma_column *list,
                   std::size_t count, std::uint64_t room) {
                return bouma_particles_sample_into(n, set, q, list, count, room,
                                                   seed);
            },
            c, &raw, st);
    }
    std::uint64_t restart_into(const columns &c, const query *which,
                               status *st = nullptr) const
    {
        bouma_particles_query raw = which ? which->raw() : query().raw();
        return into(bouma_particles_restart_into, c, which ? &raw : nullptr,
                    st);
    }
    /* Pass all particles that match to each(const bouma_batch &), batch by
     * batch; it returns false to end (BOUMA_EABORTED). What it throws goes on
     * to the caller. */
    template <class Each>
    void for_each(const query &which, Each each, status *st = nullptr) const
    {
        struct call {
            Each *each;
            detail::guard guard;
        } mine = {&each, {}};
        bouma_particles_query raw = which.raw();
        int rc = bouma_particles_query_run(
            handle_, &raw,
            [](void *user, const bouma_batch *batch) -> int {
                call *c = static_cast<call *>(user);
                return c->guard.run(1,
                                    [&] { return (*c->each)(*batch) ? 0 : 1; });
            },
            &mine);
        mine.guard.rethrow();
        detail::finish_by(rc, st, handle_);
    }

  private:
    /* With a mistake, C gets a list of no columns, so that the call or the step
     * fails on all ranks. */
    template <class Put> void put(Put function, const columns &c, status *st)
    {
        bool wrong = !c.mistake().empty();
        int rc = function(handle_, wrong ? 1 : c.count(), c.data(),
                          wrong ? 0 : c.size(), nullptr);
        if (wrong)
            return detail::fail(BOUMA_EINVAL, c.mistake(), st);
        detail::finish_by(rc, st, handle_);
    }
    template <class Read>
    std::uint64_t into(Read function, const columns &c,
                       const bouma_particles_query *which, status *st) const
    {
        std::uint64_t n = 0;
        bool wrong = !c.mistake().empty();
        int rc = function(&n, handle_, which, c.data(), wrong ? 0 : c.size(),
                          wrong ? 0 : c.count());
        if (wrong)
            detail::fail(BOUMA_EINVAL, c.mistake(), st);
        else
            detail::finish_by(rc, st, handle_);
        return n;
    }

    bouma_particles *handle_;
};

/* ---- steps -------------------------------------------------------------- */

/* One box to read: see step::read(). */
struct request {
    template <class T, std::size_t N>
    request(const variable &v, const view<T, N> &out, const bouma_box &where,
            int level = 0)
        : variable_(v.handle()), box_(where), level_(level)
    {
        int components = v.info(&mistake_).components;
        if (mistake_)
            mistake_ = v.check_read(out, components, level, &where);
        array_ = detail::array_of(out, components, BOUMA_CONVERT_EXACT);
        if (!mistake_)
            array_.type = static_cast<bouma_type>(0); /* all ranks fail */
    }

  private:
    friend class step;
    status mistake_;
    bouma_variable *variable_;
    bouma_box box_;
    int level_;
    bouma_array array_;
};

class step
{
  public:
    explicit step(bouma_step *handle = nullptr) : handle_(handle)
    {
    }
    bouma_step *handle() const
    {
        return handle_.get();
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    bouma::grid grid(const char *name, status *st = nullptr) const
    {
        bouma_grid *out = bouma_step_find_grid(handle(), name);
        detail::finish_by(out ? BOUMA_OK : BOUMA_ENOTFOUND, st, handle());
        return bouma::grid(out);
    }
    bouma::particles particles(const char *name, status *st = nullptr) const
    {
        bouma_particles *out = bouma_step_find_particles(handle(), name);
        detail::finish_by(out ? BOUMA_OK : BOUMA_ENOTFOUND, st, handle());
        return bouma::particles(out);
    }
    std::vector<bouma::grid> grids() const
    {
        std::vector<bouma::grid> all;
        for (int i = 0; i < bouma_step_grid_count(handle()); i++)
            all.emplace_back(bouma_step_grid(handle(), i));
        return all;
    }
    std::vector<bouma::particles> particle_sets() const
    {
        std::vector<bouma::particles> all;
        for (int i = 0; i < bouma_step_particles_count(handle()); i++)
            all.emplace_back(bouma_step_particles(handle(), i));
        return all;
    }
    bouma_step_details details(status *st = nullptr) const
    {
        bouma_step_details out = detail::sized<bouma_step_details>();
        detail::finish_by(bouma_step_details_get(&out, handle()), st, handle());
        return out;
    }
    bouma_record record(status *st = nullptr) const
    {
        bouma_record out = detail::sized<bouma_record>();
        detail::finish_by(bouma_step_record_get(&out, handle()), st, handle());
        return out;
    }
    bouma_step_file file(std::int64_t i, status *st = nullptr) const
    {
        bouma_step_file out = detail::sized<bouma_step_file>();
        detail::finish_by(bouma_step_file_get(&out, handle(), i), st, handle());
        return out;
    }
    bouma::attributes attributes() const
    {
        return bouma::attributes(bouma_step_attributes(handle()));
    }
    /* Read all boxes at once; ranks may have different ones, or none.
     * Collective. */
    void read(const std::vector<request> &requests, status *st = nullptr) const
    {
        std::vector<bouma_request> all;
        const status *mistake = nullptr;
        for (const request &r : requests) {
            if (!r.mistake_)
                mistake = &r.mistake_;
            bouma_request one = detail::sized<bouma_request>();
            one.variable = r.variable_;
            one.level = r.level_;
            one.box = r.box_;
            one.array = &r.array_;
            all.push_back(one);
        }
        int rc = bouma_step_read(handle(), all.data(), all.size());
        if (mistake)
            return detail::fail(mistake->code, mistake->message, st);
        detail::finish_by(rc, st, handle());
    }

  private:
    std::unique_ptr<bouma_step, detail::free_step> handle_;
};

/* ---- datasets ----------------------------------------------------------- */

class dataset
{
  public:
    explicit dataset(bouma_dataset *handle = nullptr) : handle_(handle)
    {
    }
    bouma_dataset *handle() const
    {
        return handle_.get();
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    static dataset create(const std::string &path, const options &o = options(),
                          status *st = nullptr)
    {
        bouma_dataset *out = nullptr;
        int rc = bouma_dataset_create(&out, detail::path_of(path), &o);
        return opened(out, rc, st);
    }
    static dataset append(const std::string &path, const options &o = options(),
                          status *st = nullptr)
    {
        bouma_dataset *out = nullptr;
        int rc = bouma_dataset_append(&out, detail::path_of(path), &o);
        return opened(out, rc, st);
    }
    static dataset open(const std::string &path, const options &o = options(),
                        status *st = nullptr)
    {
        bouma_dataset *out = nullptr;
        int rc = bouma_dataset_open(&out, detail::path_of(path), &o);
        return opened(out, rc, st);
    }
#ifdef BOUMA_MPI_H
    static dataset create(MPI_Comm comm, const std::string &path,
                          const options &o = options(), status *st = nullptr)
    {
        bouma_dataset *out = nullptr;
        int rc =
            bouma_dataset_create_mpi(&out, comm, detail::path_of(path), &o);
        return opened(out, rc, st);
    }
    static dataset append(MPI_Comm comm, const std::string &path,
                          const options &o = options(), status *st = nullptr)
    {
        bouma_dataset *out = nullptr;
        int rc =
            bouma_dataset_append_mpi(&out, comm, detail::path_of(path), &o);
        return opened(out, rc, st);
    }
    static dataset open(MPI_Comm comm, const std::string &path,
                        const options &o = options(), status *st = nullptr)
    {
        bouma_dataset *out = nullptr;
        int rc = bouma_dataset_open_mpi(&out, comm, detail::path_of(path), &o);
        return opened(out, rc, st);
    }
#endif

    /* Writing. */
    bouma::grid define_grid(const char *name, const bouma_grid_spec &spec,
                            status *st = nullptr)
    {
        bouma_grid *out = nullptr;
        done(bouma_grid_define(&out, handle(), name, &spec), st);
        return bouma::grid(out);
    }
    bouma::particles define_particles(const char *name,
                                      const bouma_particles_spec &spec,
                                      status *st = nullptr)
    {
        bouma_particles *out = nullptr;
        done(bouma_particles_define(&out, handle(), name, &spec), st);
        return bouma::particles(out);
    }
    void define_like(std::int64_t number, status *st = nullptr)
    {
        done(bouma_define_like(handle(), number), st);
    }
    bouma::grid find_grid(const char *name, status *st = nullptr)
    {
        bouma_grid *out = nullptr;
        done(bouma_dataset_find_grid(&out, handle(), name), st);
        return bouma::grid(out);
    }
    bouma::particles find_particles(const char *name, status *st = nullptr)
    {
        bouma_particles *out = nullptr;
        done(bouma_dataset_find_particles(&out, handle(), name), st);
        return bouma::particles(out);
    }
    void begin(std::int64_t number, double time, status *st = nullptr)
    {
        done(bouma_step_begin(handle(), number, time), st);
    }
    void extend(std::int64_t number, status *st = nullptr)
    {
        done(bouma_step_extend(handle(), number), st);
    }
    void end(status *st = nullptr)
    {
        done(bouma_step_end(handle()), st);
    }
    void abort(status *st = nullptr)
    {
        done(bouma_step_abort(handle()), st);
    }
    void wait(status *st = nullptr)
    {
        done(bouma_dataset_wait(handle()), st);
    }
    void flush(status *st = nullptr)
    {
        done(bouma_dataset_flush(handle()), st);
    }
    void drain(status *st = nullptr)
    {
        done(bouma_dataset_drain(handle()), st);
    }
    void close(status *st = nullptr)
    {
        done(bouma_dataset_close(handle()), st);
    }
    void clear_failures(status *st = nullptr)
    {
        done(bouma_dataset_clear_failures(handle()), st);
    }
    void truncate(std::int64_t number, status *st = nullptr)
    {
        done(bouma_dataset_truncate(handle(), number), st);
    }
    void delete_step(std::int64_t number, status *st = nullptr)
    {
        done(bouma_step_delete(handle(), number), st);
    }
    void delete_steps(const std::vector<std::int64_t> &numbers,
                      status *st = nullptr)
    {
        done(bouma_dataset_delete_steps(handle(), numbers.data(),
                                        numbers.size()),
             st);
    }
    bouma::attributes step_attributes() const
    {
        return bouma::attributes(bouma_dataset_step_attributes(handle()));
    }
    bouma_record record(status *st = nullptr) const
    {
        bouma_record out = detail::sized<bouma_record>();
        done(bouma_dataset_record_get(&out, handle()), st);
        return out;
    }

    /* Reading. */
    std::vector<bouma_step_info> steps(status *st = nullptr) const
    {
        std::vector<bouma_step_info> all;
        std::int64_t count = bouma_dataset_step_count(handle());
        int rc = count < 0 ? BOUMA_EFORMAT : BOUMA_OK;
        for (std::int64_t i = 0; rc == BOUMA_OK && i < count; i++) {
            all.push_back(detail::sized<bouma_step_info>());
            rc = bouma_dataset_step_get(&all.back(), handle(), i);
        }
        done(rc, st);
        return all;
    }
    bouma_step_info first_step(status *st = nullptr) const
    {
        bouma_step_info out = detail::sized<bouma_step_info>();
        done(bouma_dataset_first_step(&out, handle()), st);
        return out;
    }
    bouma_step_info next_step(std::int64_t after, status *st = nullptr) const
    {
        bouma_step_info out = detail::sized<bouma_step_info>();
        done(bouma_dataset_next_step(&out, handle(), after), st);
        return out;
    }
    bouma_step_info previous_step(std::int64_t before,
                                  status *st = nullptr) const
    {
        bouma_step_info out = detail::sized<bouma_step_info>();
        done(bouma_dataset_previous_step(&out, handle(), before), st);
        return out;
    }
    bouma_step_info last_step(status *st = nullptr) const
    {
        bouma_step_info out = detail::sized<bouma_step_info>();
        done(bouma_dataset_last_step(&out, handle()), st);
        return out;
    }
    bouma_step_info step_at(double time, status *st = nullptr) const
    {
        bouma_step_info out = detail::sized<bouma_step_info>();
        done(bouma_dataset_step_at(&out, handle(), time), st);
        return out;
    }
    bouma::step step(std::int64_t number, status *st = nullptr) const
    {
        bouma_step *out = nullptr;
        done(bouma_step_open(&out, handle(), number), st);
        return bouma::step(out);
    }
    void refresh(status *st = nullptr)
    {
        done(bouma_dataset_refresh(handle()), st);
    }
    bouma_dataset_info info(status *st = nullptr) const
    {
        bouma_dataset_info out = detail::sized<bouma_dataset_info>();
        done(bouma_dataset_info_get(&out, handle()), st);
        return out;
    }
    bouma::attributes attributes() const
    {
        return bouma::attributes(bouma_dataset_attributes(handle()));
    }
    std::vector<std::string> notes() const
    {
        std::vector<std::string> all;
        while (const char *text =
                   bouma_dataset_note(handle(), static_cast<int>(all.size())))
            all.push_back(text);
        return all;
    }

  private:
    /* After a failure the handle goes, once its message was taken. */
    static dataset opened(bouma_dataset *out, int rc, status *st)
    {
        dataset ds(out);
        return detail::finish_by(rc, st, out) ? std::move(ds) : dataset();
    }
    void done(int rc, status *st) const
    {
        detail::finish_by(rc, st, handle());
    }

    std::unique_ptr<bouma_dataset, detail::free_dataset> handle_;
};

/* ---- plain files -------------------------------------------------------- */

/* Arrays of a plain file, each at its offset in bytes. They are borrowed. */
class pieces
{
  public:
    template <class T> pieces &add(span<T> values, std::uint64_t offset)
    {
        static_assert(std::is_trivially_copyable_v<T>, "files have bytes");
        data_.push_back(
            const_cast<void *>(static_cast<const void *>(values.data())));
        bytes_.push_back(values.size() * sizeof(T));
        offset_.push_back(offset);
        constant_ = constant_ || std::is_const_v<T>;
        return *this;
    }
    template <class T> pieces &add(std::vector<T> &values, std::uint64_t offset)
    {
        return add(span<T>(values), offset);
    }
    template <class T>
    pieces &add(const std::vector<T> &values, std::uint64_t offset)
    {
        return add(span<const T>(values), offset);
    }
    template <class T>
    pieces &add(std::vector<T> &&values, std::uint64_t offset) = delete;

  private:
    friend class file;
    std::vector<void *> data_;
    std::vector<std::uint64_t> bytes_, offset_;
    bool constant_ = false; /* some cannot be read into */
};

/* The file of a rank, its number among those that share it, and how many these
 * are. */
struct file_group {
    int group = 0, rank = 0, ranks = 0;
};

class file
{
  public:
    explicit file(bouma_file *handle = nullptr) : handle_(handle)
    {
    }
    bouma_file *handle() const
    {
        return handle_.get();
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    static file open(const std::string &path, bouma_file_mode mode,
                     const options &o = options(), status *st = nullptr)
    {
        bouma_file *out = nullptr;
        int rc = bouma_file_open(&out, path.c_str(), mode, &o);
        return opened(out, rc, st);
    }
#ifdef BOUMA_MPI_H
    static file open(MPI_Comm comm, const std::string &path,
                     bouma_file_mode mode, const options &o = options(),
                     status *st = nullptr)
    {
        bouma_file *out = nullptr;
        int rc = bouma_file_open_mpi(&out, comm, path.c_str(), mode, &o);
        return opened(out, rc, st);
    }
#endif
    file_group group(status *st = nullptr) const
    {
        file_group out;
        done(bouma_file_group(handle(), &out.group, &out.rank, &out.ranks), st);
        return out;
    }
    /* Declare that this rank has these pieces, for all writes and reads up to
     * the next declaration. Collective. */
    void declare(const pieces &mine, status *st = nullptr)
    {
        std::vector<std::uint64_t> ones(mine.bytes_.size(), 1);
        int rc = bouma_file_declare(handle(), ones.size(), mine.bytes_.data(),
                                    ones.data(), mine.offset_.data());
        if (rc == BOUMA_OK)
            declared_ = mine.bytes_;
        done(rc, st);
    }
    /* Write the pieces, or read them: as many as were declared, of the same
     * sizes. Others are refused, on all ranks. Collective. */
    void write(const pieces &mine, status *st = nullptr)
    {
        bool same = mine.bytes_ == declared_;
        int rc = bouma_file_write(handle(), same ? mine.data_.data() : nullptr);
        moved(rc, same, "have other sizes than those declared", st);
    }
    void read(const pieces &mine, status *st = nullptr)
    {
        bool same = mine.bytes_ == declared_;
        bool fits = same && !mine.constant_;
        int rc = bouma_file_read(handle(), fits ? mine.data_.data() : nullptr);
        moved(rc, fits,
              same ? "are constant" : "have other sizes than those declared",
              st);
    }
    bouma_file_report report(status *st = nullptr) const
    {
        bouma_file_report out = detail::sized<bouma_file_report>();
        done(bouma_file_report_get(&out, handle()), st);
        return out;
    }
    /* Close it, and go on to another one; what was declared holds for it.
     * Collective. */
    void reopen(const std::string &path, bouma_file_mode mode,
                status *st = nullptr)
    {
        done(bouma_file_reopen(handle(), path.c_str(), mode), st);
    }
    void close(status *st = nullptr)
    {
        done(bouma_file_close(handle()), st);
    }

  private:
    /* After a failure the handle goes, once its message was taken. */
    static file opened(bouma_file *out, int rc, status *st)
    {
        file f(out);
        return detail::finish_by(rc, st, out) ? std::move(f) : file();
    }
    void done(int rc, status *st) const
    {
        detail::finish_by(rc, st, handle());
    }
    void moved(int rc, bool fits, const char *mistake, status *st) const
    {
        if (fits || rc == BOUMA_ESTATE || !handle_)
            return done(rc, st);
        detail::fail(BOUMA_EINVAL, std::string("the pieces ") + mistake, st);
    }

    std::unique_ptr<bouma_file, detail::free_file> handle_;
    std::vector<std::uint64_t> declared_; /* bytes of each */
};

/* ---- plans and machines ------------------------------------------------- */

class plan
{
  public:
    explicit plan(bouma_plan *handle = nullptr) : handle_(handle)
    {
    }
    bouma_plan *handle() const
    {
        return handle_.get();
    }
    explicit operator bool() const
    {
        return handle_ != nullptr;
    }

    static plan make(const bouma_plan_spec &spec, const options &o = options(),
                     status *st = nullptr)
    {
        bouma_plan *out = nullptr;
        char message[1000] = "";
        int rc = bouma_plan_make(&out, &spec, &o, message, sizeof(message));
        detail::finish(rc, st, [&message] { return message; });
        return plan(out);
    }
    bouma_plan_report report(status *st = nullptr) const
    {
        bouma_plan_report out = detail::sized<bouma_plan_report>();
        done(bouma_plan_report_get(&out, handle()), st);
        return out;
    }
    /* By its index along each axis. */
    bouma_plan_patch patch(std::initializer_list<std::int64_t> at,
                           status *st = nullptr) const
    {
        bouma_plan_patch out = detail::sized<bouma_plan_patch>();
        std::array<std::int64_t, BOUMA_MAX_DIMS> index{};
        std::size_t n = 0;
        for (std::int64_t i : at)
            if (n < index.size())
                index[n++] = i;
        done(bouma_plan_patch_get(&out, handle(), index.data()), st);
        return out;
    }
    bouma_plan_file file(std::int64_t number, status *st = nullptr) const
    {
        bouma_plan_file out = detail::sized<bouma_plan_file>();
        done(bouma_plan_file_get(&out, handle(), number), st);
        return out;
    }
    bouma_plan_rank rank(int number, status *st = nullptr) const
    {
        bouma_plan_rank out = detail::sized<bouma_plan_rank>();
        done(bouma_plan_rank_get(&out, handle(), number), st);
        return out;
    }
    /* The ranks with samples of a file; and all candidates for its writer. */
    std::vector<int> holders(std::int64_t number, status *st = nullptr) const
    {
        listing<int> mine;
        int rc = bouma_plan_holders(
            handle(), number,
            [](void *user, int one) {
                static_cast<listing<int> *>(user)->add(one);
            },
            &mine);
        return mine.end(rc, st);
    }
    std::vector<bouma_plan_cost> explain(std::int64_t number,
                                         status *st = nullptr) const
    {
        listing<bouma_plan_cost> mine;
        int rc = bouma_plan_explain(
            handle(), number,
            [](void *user, const bouma_plan_cost *one) {
                static_cast<listing<bouma_plan_cost> *>(user)->add(*one);
            },
            &mine);
        return mine.end(rc, st);
    }

  private:
    /* What C passes one by one. */
    template <class T> struct listing {
        std::vector<T> all;
        detail::guard guard;

        void add(const T &one)
        {
            guard.run(0, [&] { return all.push_back(one), 0; });
        }
        std::vector<T> end(int rc, status *st)
        {
            guard.rethrow();
            detail::finish(rc, st, [rc] { return bouma_status_text(rc); });
            return std::move(all);
        }
    };
    void done(int rc, status *st) const
    {
        detail::finish(rc, st, [rc] { return bouma_status_text(rc); });
    }

    std::unique_ptr<bouma_plan, detail::free_plan> handle_;
};

/* A template of layout hz for ranks with a block each. */
inline std::string
hz_template(std::initializer_list<std::int64_t> shape,
            std::initializer_list<std::int64_t> ranks,
            bouma_rank_order order = BOUMA_RANK_ORDER_ROW_MAJOR,
            status *st = nullptr)
{
    char text[64] = "", message[1000] = "";
    if (shape.size() != ranks.size()) {
        detail::fail(BOUMA_EINVAL,
                     "the shape and the ranks have different numbers of axes",
                     st);
        return text;
    }
    int rc = bouma_hz_template(text, sizeof(text),
                               static_cast<int>(shape.size()), shape.begin(),
                               ranks.begin(), order, message, sizeof(message));
    detail::finish(rc, st, [&message] { return message; });
    return text;
}

inline bouma_codec_info codec_info(bouma_codec codec, status *st = nullptr)
{
    bouma_codec_info out = detail::sized<bouma_codec_info>();
    detail::finish(bouma_codec_info_get(&out, codec), st,
                   [] { return "there is no such codec"; });
    return out;
}

/* The codec that a variable of a grid gets. */
inline bouma_codec grid_codec(const bouma_variable_spec &spec)
{
    return bouma_grid_codec(&spec);
}

/* 'local_path' of the report is that of the spec. */
inline bouma_probe_report probe(const bouma_probe_spec &spec,
                                const options &o = options(),
                                status *st = nullptr)
{
    bouma_probe_report out = detail::sized<bouma_probe_report>();
    char message[1000] = "";
    int rc = bouma_probe(&out, &spec, &o, message, sizeof(message));
    detail::finish(rc, st, [&message] { return message; });
    return out;
}

/* The machine file of a report. */
inline std::string probe_text(const bouma_probe_report &report)
{
    std::string text(bouma_probe_text(&report, nullptr, 0) + 1, '\0');
    text.resize(bouma_probe_text(&report, &text[0], text.size()));
    return text;
}

/* ---- checking, mending and draining ------------------------------------- */

/* As bouma_finding, with texts of its own. */
struct finding {
    bouma_severity severity;
    std::int64_t step;
    std::string name, text;
};

namespace detail
{

/* Findings and losses, as C passes them. */
struct told {
    std::vector<finding> *findings;
    std::vector<bouma_loss> losses;
    guard guarded;
    char message[1000];

    explicit told(std::vector<finding> *list)
        : findings(list), losses(), guarded(), message()
    {
        if (findings)
            findings->clear();
    }
    static void found(void *user, const bouma_finding *f)
    {
        told *t = static_cast<told *>(user);
        if (t->findings)
            t->guarded.run(0, [&] {
                t->findings->push_back({f->severity, f->step,
                                        f->name ? f->name : "",
                                        f->text ? f->text : ""});
                return 0;
            });
    }
    static void lost(void *user, const bouma_loss *loss)
    {
        told *t = static_cast<told *>(user);
        t->guarded.run(0, [&] { return t->losses.push_back(*loss), 0; });
    }
    void end(int rc, status *st)
    {
        guarded.rethrow();
        finish(rc, st, [this] { return message; });
    }
};

} // namespace detail

inline bouma_verify_report verify(const std::string &path,
                                  bouma_depth depth = BOUMA_DEPTH_FULL,
                                  std::vector<finding> *findings = nullptr,
                                  const options &o = options(),
                                  status *st = nullptr)
{
    bouma_verify_report out = detail::sized<bouma_verify_report>();
    detail::told mine(findings);
    int rc = bouma_verify(&out, path.c_str(), depth, &o, detail::told::found,
                          &mine, mine.message, sizeof(mine.message));
    mine.end(rc, st);
    return out;
}

/* Without 'apply', only what would be done. */
inline bouma_repair_report repair(const std::string &path, bool apply,
                                  std::vector<finding> *actions = nullptr,
                                  const options &o = options(),
                                  status *st = nullptr)
{
    bouma_repair_report out = detail::sized<bouma_repair_report>();
    detail::told mine(actions);
    int rc = bouma_repair(&out, path.c_str(), apply, &o, detail::told::found,
                          &mine, mine.message, sizeof(mine.message));
    mine.end(rc, st);
    return out;
}
inline bouma_repair_report
repair_forget(const std::string &path, std::int64_t number, bool apply,
              std::vector<finding> *actions = nullptr,
              const options &o = options(), status *st = nullptr)
{
    bouma_repair_report out = detail::sized<bouma_repair_report>();
    detail::told mine(actions);
    int rc = bouma_repair_forget(&out, path.c_str(), number, apply, &o,
                                 detail::told::found, &mine, mine.message,
                                 sizeof(mine.message));
    mine.end(rc, st);
    return out;
}
inline std::vector<bouma_loss> losses(const std::string &path,
                                      const options &o = options(),
                                      status *st = nullptr)
{
    detail::told mine(nullptr);
    int rc = bouma_losses(path.c_str(), &o, detail::told::lost, &mine,
                          mine.message, sizeof(mine.message));
    mine.end(rc, st);
    return mine.losses;
}
inline bouma_drain_report drain(const std::string &local,
                                const std::string &path, bool remove = false,
                                const options &o = options(),
                                status *st = nullptr)
{
    bouma_drain_report out = detail::sized<bouma_drain_report>();
    detail::told mine(nullptr);
    int rc = bouma_drain(&out, local.c_str(), path.c_str(), remove, &o,
                         mine.message, sizeof(mine.message));
    mine.end(rc, st);
    return out;
}

#ifdef BOUMA_MPI_H
/* The same by all ranks of 'comm'. Collective. */
inline bouma_verify_report verify(MPI_Comm comm, const std::string &path,
                                  bouma_depth depth = BOUMA_DEPTH_FULL,
                                  std::vector<finding> *findings = nullptr,
                                  const options &o = options(),
                                  status *st = nullptr)
{
    bouma_verify_report out = detail::sized<bouma_verify_report>();
    detail::told mine(findings);
    int rc = bouma_verify_mpi(&out, comm, path.c_str(), depth, &o,
                              detail::told::found, &mine, mine.message,
                              sizeof(mine.message));
    mine.end(rc, st);
    return out;
}
inline bouma_drain_report drain(MPI_Comm comm, const std::string &local,
                                const std::string &path, bool remove = false,
                                const options &o = options(),
                                status *st = nullptr)
{
    bouma_drain_report out = detail::sized<bouma_drain_report>();
    detail::told mine(nullptr);
    int rc = bouma_drain_mpi(&out, comm, local.c_str(), path.c_str(), remove,
                             &o, mine.message, sizeof(mine.message));
    mine.end(rc, st);
    return out;
}
inline bouma_probe_report probe(MPI_Comm comm, const bouma_probe_spec &spec,
                                const options &o = options(),
                                status *st = nullptr)
{
    bouma_probe_report out = detail::sized<bouma_probe_report>();
    char message[1000] = "";
    int rc = bouma_probe_mpi(&out, comm, &spec, &o, message, sizeof(message));
    detail::finish(rc, st, [&message] { return message; });
    return out;
}
#endif

} // namespace bouma

#undef BOUMA_HPP_THROWS
#endif
